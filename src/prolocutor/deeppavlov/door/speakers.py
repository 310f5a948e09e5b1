"""Who speaks through this door, and whose things a visitor may see."""

from __future__ import annotations

import re
from typing import Any, Final

from prolocutor.contracts.channel import Visitor
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, Forbidden

_ANONYMOUS: Final = re.compile(r"anonymous-[0-9a-f]{32}")


def speaker(visitor: Visitor, given: Any) -> str:
    """Tell whose words these are, by who came in and the `user_id` that was given.

    Operators speak for whom they name, persons for themselves. An anonymous visitor becomes
    somebody new and goes on as the same one by giving the `user_id` of the first reply, which
    nobody can guess. `BadInput` or `Forbidden` otherwise.
    """
    name = _name(given)
    if visitor.kind == "person" and visitor.user is not None:
        if name not in ("", visitor.user):
            raise Forbidden("this token is for another user_id; leave it out", field="user_id")
        return visitor.user
    if visitor.kind == "anonymous":
        if name and not _ANONYMOUS.fullmatch(name):
            raise Forbidden("without a token leave user_id out at first", field="user_id")
        return name or f"anonymous-{new_id()}"
    if not name:
        raise BadInput("user_id is needed: it says whose words these are", field="user_id")
    return name


def rater(visitor: Visitor, given: Any) -> str | None:
    """Tell who rates; operators need not say."""
    if visitor.kind == "operator":
        return _name(given) or None
    return speaker(visitor, given)


def may_see(visitor: Visitor, user: str | None) -> bool:
    """Whether a visitor may see what belongs to this user: persons theirs, by whichever door."""
    return visitor.kind == "operator" or user in visitor.names


def _name(given: Any) -> str:
    if given is None:
        return ""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if not isinstance(given, str):
        raise BadInput("user_id should be a text", field="user_id")
    return given
