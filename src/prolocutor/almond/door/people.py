"""Who speaks through this door, and in which of their dialogs."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from prolocutor.contracts.channel import Visitor
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, Forbidden

PREFIX: Final = "almond:"
LOCAL: Final = "local"
"""Whoever sits at this machine, and an operator who names nobody."""

MAIN: Final = "main"
MAX_NAME: Final = 200

_ANONYMOUS: Final = re.compile(r"(?:web|stateless)-([0-9a-f]{32})")


class Party(msgspec.Struct, frozen=True):
    """A person and one of their dialogs.

    `user` and `dialog` are the assistant's names for them, `conversation` is the id that the client
    knows. An anonymous person is known by that id alone, which nobody can guess.
    """

    user: str
    dialog: str
    conversation: str
    anonymous: bool = False


def party_of(
    visitor: Visitor, *, user: str | None = None, conversation: Any = None, fresh: str | None = None
) -> Party:
    """Tell who a visitor is, by the `user` and the id of a conversation that were given.

    Operators speak for whom they name. `fresh` begins the ids of new conversations; without it the
    dialog is the main one. `BadInput` or `Forbidden` otherwise.
    """
    given = _name(conversation)
    if visitor.kind == "anonymous":
        return stranger(given, fresh or "web")
    name = given or (MAIN if fresh is None else f"{fresh}-{new_id()}")
    return Party(PREFIX + _speaker(visitor, user), name, name)


def stranger(given: str | None = None, fresh: str = "web") -> Party:
    """Return an anonymous person: the one whose conversation is `given`, else somebody new."""
    known = _ANONYMOUS.fullmatch(given or "")
    secret = known[1] if known else new_id()
    conversation = given if known and given else f"{fresh}-{secret}"
    return Party(f"{PREFIX}anonymous-{secret}", MAIN, conversation, anonymous=True)


def _speaker(visitor: Visitor, given: str | None) -> str:
    if visitor.kind == "person" and visitor.user is not None:
        if given not in (None, "", visitor.user):
            raise Forbidden("this token is for another user; leave it out", field="user")
        return visitor.user
    if given is not None and len(given) > MAX_NAME:
        raise BadInput(f"a user's name has at most {MAX_NAME} characters", field="user")
    return given or LOCAL


def _name(given: Any) -> str | None:
    if given is None or given == "":
        return None
    if not isinstance(given, str) or len(given) > MAX_NAME:
        what = f"a conversation's id is a text of at most {MAX_NAME} characters"
        raise BadInput(what, field="conversationId")
    return given
