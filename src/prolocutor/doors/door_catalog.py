"""The doors by name.

Another package adds its own through an entry point in the group `prolocutor.doors`: name -> the
Struct of its options, which builds it (`web.door_context.DoorOptions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.contracts.channel import Channel
from prolocutor.errors import ConfigError
from prolocutor.web.door_context import DoorOptions
from prolocutor.web.session_admission import SessionFinder


class SessionChannel(Channel, SessionFinder, Protocol):
    """A channel that keeps the sessions of those who sign in by it."""


DOORS: Final = Catalog[type[DoorOptions]]("door", "prolocutor.doors", key="doors")

SIGN_IN: Final = Catalog[Callable[..., SessionChannel]](
    "way to sign in", "prolocutor.sign_in", key="auth.openid"
)
"""The channels by which people sign in; each is made with the assistant, settings and doors."""


def door_options(name: str, given: Mapping[str, Any]) -> DoorOptions:
    """Return the options of a door; raise `ConfigError` for those that it does not take."""
    type_: Any = DOORS.checked(name, **given)
    try:
        made: DoorOptions = msgspec.convert(given, type_, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the door {name!r} cannot be made: {error}", key="doors") from None
    return made


def usual_doors() -> list[str]:
    """Return the names of the doors that are opened where a file names none."""
    return [name for name in DOORS.names() if _is_usual(name)]


def _is_usual(name: str) -> bool:
    try:
        return bool(getattr(DOORS.load(name), "is_usual", False))
    except ConfigError:  # a library is missing: who wants it, names it
        return False
