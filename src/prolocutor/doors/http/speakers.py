"""Who speaks through this door."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from prolocutor.contracts.http import Visitor
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput
from prolocutor.web.speaking import DoorPersons

UserName: TypeAlias = str | int | float | None
"""A `user_id` as a client writes it."""

PERSONS: Final = DoorPersons("", unnamed=None, field="user_id")

_ANONYMOUS: Final = re.compile(r"anonymous-[0-9a-f]{32}")


def speaker(visitor: Visitor, user_id: UserName) -> str:
    """Return the user that a visitor speaks for, by the `user_id` of the request.

    An operator speaks for any user, a person for themselves. An anonymous visitor becomes a new
    user, and stays the same one by the `user_id` of the first reply, which cannot be guessed. Raise
    `BadInput` where the `user_id` is missing, `Forbidden` where it is another person's.
    """
    name = _name(user_id)
    if visitor.kind == "anonymous" and _ANONYMOUS.fullmatch(name):
        return name
    user = PERSONS.find(visitor, name)
    if visitor.kind == "anonymous":
        return PERSONS.anonymous(new_id())
    if user is None:
        raise BadInput("user_id is needed: it says whose words these are", field="user_id")
    return user


def rater(visitor: Visitor, user_id: UserName) -> str | None:
    """Return the user that rates; operators need not name one."""
    if visitor.kind == "operator":
        return _name(user_id) or None
    return speaker(visitor, user_id)


def _name(user_id: UserName) -> str:
    return "" if user_id is None else as_text(user_id)


def as_text(given: str | int | float) -> str:
    """Return a text as it is, and a number as JSON writes it."""
    return given if isinstance(given, str) else plain.encode(given).decode()
