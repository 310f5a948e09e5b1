"""DoorContext: the context in which a door is built, and the promise of its options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar, Final, Protocol

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.contracts.http import Visitor
from prolocutor.contracts.pairing import Card
from prolocutor.errors import BadInput, Forbidden
from prolocutor.observe.recent_turns import RecentTurns, ServiceTimes
from prolocutor.web.key_ring import KeyRing

USER_HEADER: Final = "X-Prolocutor-User"
"""The header in which an operator may name the user, where the address does not (`?user=`)."""

_SAFE: Final = re.compile(r"[A-Za-z0-9_.-]{1,120}")

LOCAL: Final = "local"
"""The user of an operator who names none, such as a visitor on loopback."""


class DoorPersons(msgspec.Struct, frozen=True):
    """The persons of a door.

    - `prefix` begins their names in the assistant.
    - `unnamed` is the user of an operator who names no user and did not sign in, None: no user.
    - `field` is the part of a request with a user's name.
    """

    prefix: str
    unnamed: str | None = LOCAL
    field: str = "user"

    def find(self, visitor: Visitor, given: str | None = None) -> str | None:
        """Return the person a visitor speaks for, by the name in the request, if any.

        An operator speaks for the given person, a person for themselves: raise `Forbidden` if
        another person is given. For an anonymous visitor, return None: a secret in the request
        identifies them (`anonymous`).
        """
        user = visitor.user
        if visitor.kind == "operator":
            user = given or user or self.unnamed
        elif given and given != user:
            without = (
                "this token is for another user" if visitor.kind == "person" else "without a token"
            )
            raise Forbidden(f"{without}: leave {self.field} out", field=self.field)
        return None if user is None else self.prefix + user

    def anonymous(self, secret: str) -> str:
        """Return the person who is identified by a secret."""
        return f"{self.prefix}anonymous-{secret}"

    def speaker(self, visitor: Visitor, *given: object) -> DoorSpeaker:
        """Return the speaker, by the names in the parts of a request.

        A value other than text names no person. Raise `BadInput` for two different names, and the
        errors of `find`.
        """
        names = {one for one in given if isinstance(one, str) and one}
        if len(names) > 1:
            what = f"it names {len(names)} users: {', '.join(sorted(names))}"
            raise BadInput(f"{what:.200}; name one", field=self.field)
        user = self.find(visitor, next(iter(names), None))
        if user is not None or visitor.kind != "operator":
            return DoorSpeaker(user)
        return DoorSpeaker(None, self.prefix + (f"{visitor.key}:" if visitor.key else ""))


class DoorSpeaker(msgspec.Struct, frozen=True):
    """The speaker of a request: a person, or a caller who speaks for many unnamed persons.

    `user` is the person. Without a person, each context of a caller is a person of its own, and
    `own` begins their names; it is None for an anonymous visitor. Contexts belong to the key of
    their first request.
    """

    user: str | None
    own: str | None = None

    def person(self, kind: str, id_: str) -> str:
        """Return the person of a context of the caller, such as the thread with an id."""
        return self.beginning(kind) + (id_ if _SAFE.fullmatch(id_) else f"~{_digest(id_)}")

    def owns(self, kind: str, user: str) -> bool:
        """Return whether a person is a context of the caller."""
        begin = self.beginning(kind)
        return self.own is not None and user.startswith(begin) and ":" not in user[len(begin) :]

    def beginning(self, kind: str) -> str:
        """Return the beginning of the names of all persons who are contexts of the caller."""
        return f"{self.own}{kind}-"


def _digest(text: str) -> str:
    """Return a short digest of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def may_see(visitor: Visitor, owner: str | None) -> bool:
    """Return whether a visitor may see the data of a person, who may have several names."""
    return visitor.kind == "operator" or owner in visitor.names


class ServedFile(msgspec.Struct, frozen=True):
    """The file of an assistant.

    `hints` returns the hints on the file, each as (what, where); it may block.
    """

    path: Path
    hints: Callable[[], Sequence[tuple[str, str]]]


class DoorContext(msgspec.Struct, frozen=True):
    """The assistant and its surroundings, for its doors.

    - `folder` is the folder of the assistant's `file`, `store` the URL of its store and `uploads`
      the folder for people's uploads, None: uploads go to the store.
    - `ring` has the keys in the store.
    - `recent` and `times` are among the assistant's observers.
    - `starters` are the file's proposals for a beginning, `cards` the cards of its skills by name,
      which may be separate files; None: the cards of the services.
    - `secured`: only visitors whom the file names are admitted. With `recording`, records of turns
      are kept.
    - `prefixes` are the prefixes of all other doors, for the sign-in door.
    - `operators_page` is the path of the page for operators, None if no door has such a page.
    - `operators_data` are the paths from which other doors serve data for it.
    """

    assistant: Assistant
    folder: Path = Path()
    file: ServedFile | None = None
    store: str | None = None
    uploads: Path | None = None
    ring: KeyRing | None = None
    recent: RecentTurns | None = None
    times: ServiceTimes | None = None
    starters: Sequence[str] = ()
    cards: Mapping[str, Card] | None = None
    secured: bool = False
    recording: bool = True
    prefixes: tuple[str, ...] = ("",)
    operators_page: str | None = None
    operators_data: frozenset[str] = frozenset()


class DoorOptions(Protocol):
    """The options of a door: a frozen Struct, named by an entry point of `prolocutor.doors`.

    A method `check(place: DoorPlace)` may reject the options before the assistant is made.
    `is_usual` (True): the door is opened if a file names no doors. `operators_page`: the path of
    the door's page for operators. `operators_data`: the path of data for that page.
    """

    is_usual: ClassVar[bool]

    def build(self, context: DoorContext) -> Channel:
        """Return the door."""
