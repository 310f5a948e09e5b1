"""What a person can send, and how a turn starts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, TypedDict, TypeGuard
from zoneinfo import ZoneInfo

import msgspec

from prolocutor.dialog.model_wishes import ModelWishes
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import Ask

STOPPED: Final = "stopped"
"""By which way a stopped turn's reply came about, and the attribute that marks that reply."""

NOTHING_SAID: Final = "Stopped."
"""The reply of a turn that was stopped before words of it were shown."""


class StopSignal(msgspec.Struct, eq=False):
    """Set at most once, before the turn runs or while it does; the turn is then woken by `wake`."""

    is_set: bool = False
    wake: Callable[[], None] | None = None

    def set(self) -> None:
        """Ask the turn to end now."""
        self.is_set = True
        if self.wake is not None:
            self.wake()


_UTTERANCE_ID: Final = re.compile(r"[0-9a-fA-F]{32}")
_TIMEZONE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]{0,63}")


AGAIN_OF: Final = "again_of"
"""The attribute of an input whose words take the place of earlier ones: the `utt_id` of a reply to
those, in the same dialog. What was said before stays; clients fold it away."""


def is_utterance_id(value: object) -> TypeGuard[str]:
    """Return whether a value has the form of an `utt_id`."""
    return isinstance(value, str) and _UTTERANCE_ID.fullmatch(value) is not None


class EarlierTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was taken before, elsewhere or in another dialog: what was said, and the reply.

    `messages`, `ask` and `skill` are those of the reply, where they are known.
    """

    text: str
    reply: str
    messages: list[JsonObject] = []
    ask: Ask | None = None
    skill: str = ""


OPERATOR: Final = "operator"
"""The skill whose words an operator's are in a dialog."""


class OperatorAct(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator does: takes a dialog over, says something, gives it back.

    `text` is said to the person; `note` is for services to read.
    """

    state: Literal["taken", "said", "given"]
    by: str
    text: str
    note: str = ""


class TurnInput(msgspec.Struct, frozen=True):
    """What a person sent: all that makes a turn, from the door to the journal.

    `text` is said by `user` in the dialog of this name, through `channel`; `attributes` are those
    of the human utterance. The same `request_id` gets the same reply. A button or a program comes
    parsed: `parsed` is `{code, entities, slots?, slotTypes?, example_id?}` or `{program}`,
    `program` the source of a ThingTalk program. `text` is then its title, or what a client may
    show instead of one. `skill` is the one skill that is asked, None where the assistant decides.

    The assistant itself sets `retold`, the turn that this was in when it was said before: its reply
    is given again; and `operator`, what an operator does: the person says nothing then.

    `wishes` are for chat models alone; they are not stored, so a second run does not know them.
    """

    text: str
    user: str
    dialog: str = "main"
    attributes: JsonObject = {}
    request_id: str | None = None
    channel: str = "python"
    parsed: JsonObject | None = None
    program: str | None = None
    skill: str | None = None
    retold: EarlierTurn | None = None
    operator: OperatorAct | None = None
    wishes: ModelWishes | None = None

    @property
    def timezone(self) -> str | None:
        """The name of the person's time zone, where their client tells it in `platformData`."""
        told = self.attributes.get("platformData")
        name = told.get("timezone") if isinstance(told, dict) else None
        if not isinstance(name, str) or not _TIMEZONE.fullmatch(name):
            return None
        try:
            return ZoneInfo(name).key
        except (ValueError, OSError, KeyError):
            return None


class InputKeywords(TypedDict, total=False):
    """The keywords for a `TurnInput` beside its text and user; None is what its default is."""

    dialog: str | None
    attributes: JsonObject | None
    request_id: str | None
    channel: str
    parsed: JsonObject | None
    program: str | None
    skill: str | None


def turn_input(text: TurnInput | str, user: str, keywords: InputKeywords) -> TurnInput:
    """Return the input that a caller gives as such, or by keywords."""
    if isinstance(text, TurnInput):
        if user or keywords:
            raise TypeError("a TurnInput has all that is said of a turn; give no more with it")
        return text
    given: JsonObject = {key: one for key, one in keywords.items() if one is not None}
    return TurnInput(text, user, **given)


class DirectReply(msgspec.Struct, frozen=True, kw_only=True):
    """What the assistant says without asking a service: messages, and an ask.

    `skill` is the service in whose name it is said, "" for the assistant itself. Without messages
    nothing is said in the turn.
    """

    messages: list[JsonObject] = []
    ask: str | None = None
    skill: str = ""


class TurnStart(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn starts.

    `forced_skill` alone is asked (it waits for an answer); `extra` is added to its request (the
    `answer`); `preferred` is asked in any case and wins unless another skill is clearly better.
    Where a subject may be switched, `excluded` is the skill that waits and is not asked, `least`
    the confidence that a hypothesis needs to count at all, `otherwise` what is said when none does
    (in place of last chance and fallback). `say` is said at once, without asking anybody. `heard`
    are the words that services are shown in place of the input's: those that were said before.
    """

    input: TurnInput
    forced_skill: str | None = None
    extra: JsonObject = {}
    preferred: str | None = None
    excluded: str | None = None
    least: float | None = None
    otherwise: DirectReply | None = None
    say: DirectReply | None = None
    heard: str | None = None
