"""Which user a visitor of the page is, and whose turns and pictures they may see."""

from __future__ import annotations

import re
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.contracts.http import Visitor
from prolocutor.errors import Forbidden
from prolocutor.web.speaking import DoorPersons

PREFIX: Final = "almond:"
"""The prefix of the users of the wire that the page speaks."""

PERSONS: Final = DoorPersons(PREFIX)

_ANONYMOUS: Final = re.compile(r"web-([0-9a-f]{32})(?:\.([\w-]{1,64}))?")
_MAIN: Final = "main"


class PageUser(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters that name the user."""

    id: Annotated[
        str | None, Meta(description="The conversation by which an anonymous person is known.")
    ] = None
    user: Annotated[str | None, Meta(description="The user for whom an operator speaks.")] = None


def user_of(visitor: Visitor, params: PageUser) -> str:
    """Return the user that a visitor speaks for.

    An anonymous visitor is known by the id of the conversation, which cannot be guessed; raise
    `Forbidden` without one.
    """
    user = PERSONS.find(visitor, params.user if visitor.kind == "operator" else None)
    if user is not None:
        return user
    known = _ANONYMOUS.fullmatch(params.id or "")
    if known is None:
        raise Forbidden("without a token give the id of your conversation", field="id")
    return PERSONS.anonymous(known[1])


def dialog_of(visitor: Visitor, params: PageUser, conversation: str) -> str | None:
    """Return the name of the dialog that is one's own conversation of this id, None if it is none.

    An anonymous visitor's ids begin with the id by which the visitor is known.
    """
    if visitor.kind != "anonymous":
        return conversation or _MAIN
    mine, known = _ANONYMOUS.fullmatch(params.id or ""), _ANONYMOUS.fullmatch(conversation)
    if mine is None or known is None or mine[1] != known[1]:
        return None
    return known[2] or _MAIN


def conversation_id(visitor: Visitor, params: PageUser, dialog: str) -> str:
    """Return the id of the conversation that is one's own dialog of this name."""
    mine = _ANONYMOUS.fullmatch(params.id or "")
    if visitor.kind != "anonymous" or mine is None:
        return dialog
    return f"web-{mine[1]}" if dialog == _MAIN else f"web-{mine[1]}.{dialog}"


def may_see(visitor: Visitor, params: PageUser, user: str | None) -> bool:
    """Return whether a visitor may see what belongs to a user."""
    return visitor.kind == "operator" or user == user_of(visitor, params)
