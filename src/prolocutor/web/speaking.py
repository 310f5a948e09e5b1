"""Who speaks: from a visitor, and what a door's request says of them, to the person."""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.contracts.http import Visitor
from prolocutor.errors import Forbidden

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


def may_see(visitor: Visitor, owner: str | None) -> bool:
    """Return whether a visitor may see what belongs to a person, by any name of that person."""
    return visitor.kind == "operator" or owner in visitor.names
