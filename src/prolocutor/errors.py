"""The whole error tree of Prolocutor.

ProlocutorError                 anything this package raises on purpose
├── ConfigError                 a pipeline or a YAML file that cannot work: file, line, key
│   └── MissingExtra            an optional library is not installed
├── BadInput                    what a caller sent cannot be taken: field
│   ├── BadData                 a data set cannot be read or written so: file, line, field
│   ├── ThingTalkError          a ThingTalk program cannot be taken: line, column, what to do
│   ├── NotFound                the dialog, utterance or person asked for is unknown
│   ├── Conflict                the same idempotency key came with another body
│   ├── HandoverConflict        another operator has the dialog, or none has
│   ├── LabelConflict           another operator has said already who is right
│   └── Forbidden               the caller may not do this
│       ├── Unauthenticated     the caller is not authenticated
│       │   └── SignInNeeded    the same, and people sign in with an identity provider
│       └── SignInFailed        what came back from the identity provider lets nobody in
├── Overloaded                  the queue of a person is full, or waiting took too long
│   └── QuotaExceeded           a visitor asks for more than is allowed: retry_after
├── Stopping                    the assistant takes no new turns
├── ProviderAway                the identity provider does not answer
├── StoreError                  the store cannot do its work
│   ├── StoreLocked             another process owns it
│   │   └── StoreLost           another process took it over from this one
│   ├── StoreCorrupt            the file is damaged, or not one of ours
│   ├── StoreFull               the disk is full
│   ├── StoreAway               the database does not answer
│   ├── StoreMisused            we used a connection of the store wrongly
│   ├── PersonUnreadable        what is stored of a person cannot be read: user
│   ├── PersonBusy              another turn of the person is open, or others wait
│   ├── PersonMoved             the person goes, or went, to another database
│   ├── RoundChanged            the dialog's round is not the one that the caller knew
│   ├── DeclaredDead            this replica was declared dead and has to join again
│   └── TakenOver               another replica runs this turn, or ran it
└── ServiceError                one call of one service went wrong; never leaves a turn
    ├── ServiceRaised           it raised, exited or cancelled itself
    ├── ServiceUnreachable      no answer at its address, or the connection broke
    ├── ServiceRefused          it answered with an error status
    ├── BadReply                its answer is malformed: path of the value
    ├── ServiceLate             it did not answer in time
    ├── NoPlace                 too many of its calls are running already
    ├── BreakerOpen             it failed too often and is not called for a while
    ├── PurseEmpty              it would cost more than is allowed
    └── SwitchedOff             an operator has switched it off
"""

from __future__ import annotations

from typing import Final

MAX_SAID: Final = 4_000
"""Most characters of what is wrong with a service, and of other words of its."""


def legible(said: object) -> str:
    """Return words of others as they can be shown and stored: not endless, without surrogates."""
    text = said if isinstance(said, str) else f"({type(said).__name__})"
    if len(text) > MAX_SAID:
        text = f"{text[:MAX_SAID]}…"
    return text if text.isascii() else text.encode(errors="replace").decode()


def printable(text: str) -> str:
    """Return a text with escapes for the characters that a terminal would obey."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


class ProlocutorError(Exception):
    """Anything this package raises on purpose; its text is written for users."""

    code = "error"


class ConfigError(ProlocutorError):
    """A pipeline or a YAML file that cannot work, with the place of the fault if known."""

    code = "config"

    def __init__(
        self, what: str, *, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        self.what, self.file, self.line, self.key = what, file, line, key
        place = ":".join(str(part) for part in (file, line) if part is not None)
        named = key and printable(key)
        super().__init__(": ".join(part for part in (place, named, what) if part))


class MissingExtra(ConfigError):
    """An optional library is not installed; the text names the extra to install."""

    code = "missing_extra"


class BadInput(ProlocutorError):
    """What a caller sent is not accepted; `field` names the part at fault."""

    code = "bad_input"

    def __init__(self, what: str, *, field: str | None = None) -> None:
        self.field = field
        super().__init__(what)


class BadData(BadInput):
    """A data set cannot be read or written: file, line and field if known."""

    code = "bad_data"

    def __init__(
        self,
        what: str,
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.what, self.file, self.line = what, file, line
        place = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(": ".join(part for part in (place, field, what) if part), field=field)

    def at(self, file: str, line: int | None = None) -> BadData:
        """Return the same fault with its place."""
        return BadData(self.what, file=file, line=line, field=self.field)


class ThingTalkError(BadInput):
    """A ThingTalk program or manifest is faulty: line, column, and what to do if known."""

    code = "thingtalk"

    def __init__(self, what: str, *, line: int = 0, column: int = 0, do: str = "") -> None:
        self.what, self.line, self.column, self.do = what, line, column, do
        place = f"line {line}, column {column}: " if line else ""
        super().__init__(place + what + (f"; {do}" if do else ""))


class NotFound(BadInput):
    """The dialog, utterance or person asked for is unknown."""

    code = "not_found"


class Conflict(BadInput):
    """The same idempotency key came with another body."""

    code = "conflict"


class HandoverConflict(BadInput):
    """Another operator has the dialog, or it was not taken over."""

    code = "handover_conflict"


class LabelConflict(BadInput):
    """Another operator has said already who is right."""

    code = "label_conflict"


class Forbidden(BadInput):
    """The caller may not do this."""

    code = "forbidden"


class Unauthenticated(Forbidden):
    """The caller is not authenticated."""

    code = "unauthenticated"


class SignInNeeded(Unauthenticated):
    """The caller is not authenticated; people may sign in with an identity provider."""

    code = "sign_in_needed"


class SignInFailed(Forbidden):
    """What came back from the identity provider lets nobody in."""

    code = "sign_in_failed"


class Overloaded(ProlocutorError):
    """The queue of a person is full, or waiting in it took too long."""

    code = "overloaded"


class QuotaExceeded(Overloaded):
    """A visitor asks for more than is allowed now; there is room after `retry_after` seconds."""

    code = "quota_exceeded"

    def __init__(self, what: str, retry_after: int = 1) -> None:
        self.retry_after = retry_after
        super().__init__(what)


class Stopping(ProlocutorError):
    """The assistant is shutting down and takes no new turns."""

    code = "stopping"


class ProviderAway(ProlocutorError):
    """The identity provider does not answer, or not as one."""

    code = "provider_away"


class StoreError(ProlocutorError):
    """The store cannot do its work; nothing that it confirmed is lost."""

    code = "store"


class StoreLocked(StoreError):
    """Another process owns the store."""

    code = "store_locked"


class StoreLost(StoreLocked):
    """Another process took over the store from this one, which can write to it no more."""

    code = "store_lost"


class StoreCorrupt(StoreError):
    """The store's file is damaged, or not a store of ours."""

    code = "store_corrupt"


class StoreFull(StoreError):
    """The disk is full; what was confirmed before is safe."""

    code = "store_full"


class StoreAway(StoreError):
    """The database does not answer; what was being stored may or may not be stored."""

    code = "store_away"


class StoreMisused(StoreError):
    """A connection of the store was used wrongly by us: a fault of ours, not of the database."""

    code = "store_misused"


class PersonUnreadable(StoreError):
    """What is stored of a person is damaged; the others go on."""

    code = "person_unreadable"

    def __init__(self, user: str, why: str) -> None:
        self.user = user
        super().__init__(f"what is stored of this person cannot be read ({why})")


class PersonBusy(StoreError):
    """Another turn of the person is open or they are held, or others wait; try again later."""

    code = "person_busy"


class PersonMoved(StoreError):
    """The person goes, or went, to another database; whoever asks again is led there."""

    code = "person_moved"


class RoundChanged(StoreError):
    """The dialog's round has changed since the caller read it; `round` is the new one (JSON)."""

    code = "round_changed"

    def __init__(self, round: bytes) -> None:
        self.round = round
        super().__init__("the dialog waits for something else by now; read the words again")


class DeclaredDead(StoreError):
    """This replica was declared dead: its lease ran out. It has to join again."""

    code = "declared_dead"


class TakenOver(StoreError):
    """Another replica runs this turn by now, or has stored it: its reply is the one that counts."""

    code = "taken_over"


class ServiceError(ProlocutorError):
    """A call of one service went wrong. It is recorded and never leaves the turn."""

    code = "service"
    answered = False
    """Whether the service answered, even with an error."""
    passing = False
    """Whether the same call may well succeed a moment later."""
    sent = True
    """Whether the service may have got the call."""

    def __init__(self, what: object = "") -> None:
        super().__init__(legible(what))


class ServiceRaised(ServiceError):
    """The service raised, exited or cancelled itself."""

    code = "raised"
    answered = True
    passing = True


class ServiceUnreachable(ServiceError):
    """There was no answer at the service's address, or the connection broke."""

    code = "unreachable"
    passing = True

    def __init__(self, what: object = "", *, sent: bool = True) -> None:
        self.sent = sent
        super().__init__(what)


class ServiceRefused(ServiceError):
    """The service answered with an error status; its code is `refused_4xx`, `refused_5xx`, …"""

    code = "refused"
    answered = True

    def __init__(self, what: str, *, status: int) -> None:
        self.status = status
        self.code = f"refused_{status // 100}xx"
        self.passing = status >= 500 or status in (408, 425, 429)
        super().__init__(what)


class BadReply(ServiceError):
    """The service's answer is malformed; `path` is the place of the value."""

    code = "bad_reply"
    answered = True

    def __init__(self, what: str, *, path: str = "$") -> None:
        self.path = path
        super().__init__(f"{legible(path)}: {legible(what)}")


class ServiceLate(ServiceError):
    """The service did not answer in time."""

    code = "late"


class NoPlace(ServiceError):
    """Too many calls of the service are running already."""

    code = "no_place"
    sent = False


class BreakerOpen(ServiceError):
    """The service failed too often and is not called for a while."""

    code = "breaker_open"
    sent = False


class PurseEmpty(ServiceError):
    """A call would cost more than is allowed; the service was not asked."""

    code = "purse"
    sent = False


class SwitchedOff(ServiceError):
    """An operator has switched off the service, or a service that it requires."""

    code = "switched_off"
    sent = False
