"""The doors by name.

Another package adds its own through an entry point in the group `prolocutor.doors`: name -> a
class made as `Class(assistant, **options)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from prolocutor.catalog import Catalog
from prolocutor.contracts.channel import Channel
from prolocutor.web.session_admission import SessionFinder


class SessionChannel(Channel, SessionFinder, Protocol):
    """A channel that keeps the sessions of those who sign in by it."""


CHANNELS: Final = Catalog[Callable[..., Channel]]("door", "prolocutor.doors", key="doors")

SIGN_IN: Final = Catalog[Callable[..., SessionChannel]](
    "way to sign in", "prolocutor.sign_in", key="auth.openid"
)
"""The channels by which people sign in; each is made with the assistant, settings and doors."""
