"""Which user a visitor speaks for: one rule for all doors."""

from __future__ import annotations

from prolocutor.contracts.http import Visitor
from prolocutor.errors import Forbidden


def speaks_for(visitor: Visitor, given: str | None, *, field: str = "user") -> str | None:
    """Return the user that a visitor speaks for, by the name that the request gives, if any.

    An operator speaks for the one who is given, else for themselves if they signed in, else it is
    None; a person for themselves; for an anonymous visitor it is None. Raise `Forbidden`, with
    `field`, where another one is given.
    """
    if visitor.kind == "operator":
        return given or visitor.user
    if given and given != visitor.user:
        without = (
            "this token is for another user" if visitor.kind == "person" else "without a token"
        )
        raise Forbidden(f"{without}: leave {field} out", field=field)
    return visitor.user
