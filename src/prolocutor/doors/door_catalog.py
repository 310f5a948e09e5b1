"""The channels by name.

Another package adds its own through an entry point in the group `prolocutor.channels`: name -> a
class made as `Class(assistant, **options)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from prolocutor.catalog import Catalog, CatalogEntry
from prolocutor.contracts.channel import Channel
from prolocutor.web.session_admission import SessionFinder


class SessionChannel(Channel, SessionFinder, Protocol):
    """A channel that keeps the sessions of those who sign in by it."""


CHANNELS: Final = Catalog[Callable[..., Channel]](
    "door",
    {
        "a2a": "prolocutor.plugins.a2a.door.door:A2a",
        "agui": "prolocutor.plugins.agui.channel:AgUi",
        "almond": "prolocutor.plugins.almond.door.door:Almond",
        "console": "prolocutor.plugins.console.channel:Console",
        "deeppavlov": "prolocutor.doors.http.api:DeepPavlov",
        "openai": "prolocutor.doors.openai.channel:OpenAi",
        "mcp": "prolocutor.plugins.mcp.door.door:Mcp",
        "page": "prolocutor.doors.page.channel:Page",
        "parlai": "prolocutor.plugins.evaluation.chat_door:Parlai",
        "telegram": "prolocutor.plugins.telegram.channel:Telegram",
    },
    group="prolocutor.channels",
    key="doors",
)

SIGN_IN: Final = Catalog[Callable[..., SessionChannel]](
    "way to sign in",
    {"openid": CatalogEntry("prolocutor.plugins.openid.sign_in:SignIn", "openid")},
    group="prolocutor.sign_in",
    key="auth.openid",
)
"""The channels by which people sign in; each is made with the assistant, settings and doors."""
