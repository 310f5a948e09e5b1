"""Who speaks at the door for MCP clients, and which of their dialogs they mean."""

from __future__ import annotations

import hashlib
import re
from typing import Final

import msgspec

from prolocutor.contracts.http import Visitor
from prolocutor.dialog.ids import new_id
from prolocutor.errors import Forbidden
from prolocutor.web.door_context import DoorPersons

PREFIX: Final = "mcp:"
PERSONS: Final = DoorPersons(PREFIX)

_OWN_ID: Final = re.compile(r"([0-9a-f]{32})-([0-9a-f]{8})")


class PersonDialog(msgspec.Struct, frozen=True):
    """One dialog of one person: the user in the assistant, and the id that clients know it by."""

    user: str
    id: str


def named_user(visitor: Visitor, given: str | None) -> str | None:
    """Return the user that a visitor speaks for, None for an anonymous one.

    Raise `Forbidden` for another person than the visitor may be.
    """
    return PERSONS.find(visitor, given)


def conversation_of(user: str | None, given: str | None) -> PersonDialog:
    """Return the dialog that a client means by a conversation id, a new one without an id.

    Ids that this door gives name their owner, so that another person's is refused (`Forbidden`).
    A person may use ids of their own; an anonymous visitor is known by the id alone, which cannot
    be guessed.
    """
    if not given:
        id_ = new_id()
        owner = PERSONS.anonymous(id_) if user is None else user
        return PersonDialog(owner, f"{id_}-{_mark(owner, id_)}")
    own = _OWN_ID.fullmatch(given)
    if user is None and own is not None:
        user = PERSONS.anonymous(own[1])
    if user is None or (own is not None and own[2] != _mark(user, own[1])):
        what = "there is no such conversation of yours; leave conversation_id out for a new one"
        raise Forbidden(what, field="conversation_id")
    return PersonDialog(user, given)


def _mark(user: str, id_: str) -> str:
    return hashlib.blake2b(f"{user}/{id_}".encode(), digest_size=4).hexdigest()
