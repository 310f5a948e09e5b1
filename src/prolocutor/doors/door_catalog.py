"""The doors by name.

Another package adds its own through an entry point in the group `prolocutor.doors`: name -> the
Struct of its options, which builds it (`web.door_context.DoorOptions`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from prolocutor.catalog import Catalog
from prolocutor.contracts.channel import Channel
from prolocutor.web.authentication import SessionFinder
from prolocutor.web.door_context import DoorContext, DoorOptions

DOORS: Final = Catalog[type[DoorOptions]]("door", "prolocutor.doors", key="doors", needs=("build",))


class SessionChannel(Channel, SessionFinder, Protocol):
    """A channel that keeps the sessions of persons who sign in by it."""


class SignInOptions(Protocol):
    """The options of a way to sign in, which make it."""

    def build(self, context: DoorContext) -> SessionChannel:
        """Make the channel by which people sign in; the context has the prefixes of all doors."""


SIGN_IN: Final = Catalog[type[SignInOptions]]("way to sign in", "prolocutor.sign_in", key="auth")
"""The channels by which people sign in, by their key in `auth`."""


def usual_doors() -> dict[str, DoorOptions]:
    """Return the doors that are opened where a file names none, by name."""
    doors = {}
    for name, options in DOORS.import_all():
        if getattr(options, "is_usual", False):
            doors[name] = options()
    return doors


def find_operators_page(doors: Iterable[object]) -> str | None:
    """Return the path of the page for operators that the first of these doors has."""
    paths = (getattr(options, "operators_page", None) for options in doors)
    return next(filter(None, paths), None)


def find_operators_data(doors: Iterable[object]) -> frozenset[str]:
    """Return the paths of the data that these doors have for the page for operators."""
    return frozenset(filter(None, (getattr(options, "operators_data", None) for options in doors)))
