"""Who visits the page, and whose turns and pictures they may see."""

from __future__ import annotations

import re
from typing import Final

from prolocutor.contracts.channel import HttpRequest
from prolocutor.errors import Forbidden

PREFIX: Final = "almond:"
"""What stands before the names of those who talk over the wire that the page speaks."""

HOME: Final = "local"
"""The name of whoever sits at this machine."""

_ANONYMOUS: Final = re.compile(r"web-([0-9a-f]{32})")


def user_of(request: HttpRequest) -> str:
    """Return the user as whom a visitor talks; `Forbidden` for an anonymous one who is not known.

    An anonymous visitor is known by the id of the conversation, `?id=`, which nobody can guess.
    """
    visitor = request.visitor
    if visitor.kind == "operator":
        return PREFIX + (request.query("user") or HOME)
    if visitor.user is not None:
        return PREFIX + visitor.user
    known = _ANONYMOUS.fullmatch(request.query("id") or "")
    if known is None:
        raise Forbidden("without a token give the id of your conversation", field="id")
    return f"{PREFIX}anonymous-{known[1]}"


def may_see(request: HttpRequest, user: str | None) -> bool:
    """Whether a visitor may see what belongs to this user."""
    return request.visitor.kind == "operator" or user == user_of(request)
