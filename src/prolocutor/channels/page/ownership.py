"""Which user a visitor of the page is, and whose turns and pictures they may see."""

from __future__ import annotations

import re
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.contracts.http import Visitor
from prolocutor.errors import Forbidden

PREFIX: Final = "almond:"
"""The prefix of the users of the wire that the page speaks."""

LOCAL_USER: Final = "local"
"""The user at this machine, and of an operator who names none."""

_ANONYMOUS: Final = re.compile(r"web-([0-9a-f]{32})")


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
    if visitor.kind == "operator":
        return PREFIX + (params.user or LOCAL_USER)
    if visitor.user is not None:
        return PREFIX + visitor.user
    known = _ANONYMOUS.fullmatch(params.id or "")
    if known is None:
        raise Forbidden("without a token give the id of your conversation", field="id")
    return f"{PREFIX}anonymous-{known[1]}"


def may_see(visitor: Visitor, params: PageUser, user: str | None) -> bool:
    """Return whether a visitor may see what belongs to a user."""
    return visitor.kind == "operator" or user == user_of(visitor, params)
