"""DoorContext: what a door is built with, and what the options of one are."""

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
    """The persons of one door.

    `prefix` stands before their names in the assistant. `unnamed` is the user of an operator who
    names none and did not sign in, None where that is nobody. `field` is the part of a request that
    names a user.
    """

    prefix: str
    unnamed: str | None = LOCAL
    field: str = "user"

    def find(self, visitor: Visitor, given: str | None = None) -> str | None:
        """Return the person that a visitor speaks for, by the name that a request gives, if any.

        An operator speaks for the one who is given, a person for themselves: raise `Forbidden`
        where another one is given. An anonymous visitor is nobody (None): what else they send says
        who they are (`anonymous`).
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
        """Return the person who is known by what nobody can guess."""
        return f"{self.prefix}anonymous-{secret}"

    def speaker(self, visitor: Visitor, *given: object) -> DoorSpeaker:
        """Return who speaks, by the names that the parts of a request give.

        What is no text names nobody. Raise `BadInput` for two different names, and as `find` does.
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
    """Who speaks: a person, or a caller who speaks for many and names none of them.

    `user` is the person. Without one, `own` begins the names of the persons that the contexts of a
    caller are, each one of its own; it is None for an anonymous visitor. Contexts belong to the key
    that they were opened with.
    """

    user: str | None
    own: str | None = None

    def person(self, kind: str, id_: str) -> str:
        """Return the person that a context of the caller is, such as the thread with this id."""
        return self.beginning(kind) + (id_ if _SAFE.fullmatch(id_) else f"~{_digest(id_)}")

    def owns(self, kind: str, user: str) -> bool:
        """Return whether a person is a context of the caller."""
        begin = self.beginning(kind)
        return self.own is not None and user.startswith(begin) and ":" not in user[len(begin) :]

    def beginning(self, kind: str) -> str:
        """Return how the names of all persons begin that are contexts of the caller."""
        return f"{self.own}{kind}-"


def _digest(text: str) -> str:
    """Return a short digest of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def may_see(visitor: Visitor, owner: str | None) -> bool:
    """Return whether a visitor may see what belongs to a person, by any name of that person."""
    return visitor.kind == "operator" or owner in visitor.names


class ServedFile(msgspec.Struct, frozen=True):
    """The file that an assistant was made of.

    `hints` finds what there is to know of it, (what, where) each; it may block.
    """

    path: Path
    hints: Callable[[], Sequence[tuple[str, str]]]


class DoorContext(msgspec.Struct, frozen=True):
    """The assistant, and what is known where it is served, for its doors.

    `folder` is where the assistant's file lies, `file` that file, `store` the URL of its store and
    `uploads` the folder for what people upload, None where the store takes it. `ring` holds the
    keys that the store keeps. `recent` and `times` are among the assistant's observers. `starters`
    are what the file proposes to begin with, `cards` those of its skills by name, which may be
    files of their own; None: as the services have them. `secured`: only those come in whom the
    file names. With `recording` records of turns are kept. `prefixes` are those of all other
    doors, for what signs people in. `operators_page` is the path of the page for operators, None
    where no door has one.
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


class DoorOptions(Protocol):
    """The options of a door, a frozen Struct that an entry point of `prolocutor.doors` names.

    With `check(place: DoorPlace)` it can tell before there is an assistant that a door cannot be
    made of them. `is_usual` (True): the door is opened where a file names none.
    `operators_page`: the path of the page that the door has for operators.
    """

    is_usual: ClassVar[bool]

    def build(self, context: DoorContext) -> Channel:
        """Return the door."""
