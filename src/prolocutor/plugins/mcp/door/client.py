"""McpClient: one client of the door, as far as one request needs to know it."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.web.door_context import DoorSpeaker


class BackChannel(Protocol):
    """The way back to a client while its request is answered."""

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""

    async def ask(self, method: str, params: JsonObject) -> Any:
        """Send a request and return its result; raise `RpcFault` for an error."""


class McpClient(msgspec.Struct, frozen=True, kw_only=True):
    """Whose request is answered, in which version of the protocol, and what the client can do.

    `speaker` is the person, or whose conversations are persons. `skill` is asked alone by the tool
    `ask`. `key` makes a request that is sent again the same. `back` is the way back to the client,
    None where there is none; `is_stateless`: what is asked of the person is part of the result
    instead.
    """

    version: str
    speaker: DoorSpeaker
    skill: str | None = None
    elicits: bool = False
    key: str | None = None
    back: BackChannel | None = None
    is_stateless: bool = False


def elicits(capabilities: Any) -> bool:
    """Return whether a client's capabilities say that it can show forms to its user."""
    offered = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(offered, dict) and ("form" in offered or "url" not in offered)
