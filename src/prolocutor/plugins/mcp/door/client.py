"""McpClient: the facts about a client that a request needs."""

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
        """Send a request; return its result, or raise `RpcFault`."""


class McpClient(msgspec.Struct, frozen=True, kw_only=True):
    """The sender of a request, the version of the protocol, and the client's capabilities.

    - `speaker` is the person, or the caller each of whose conversations is a person.
    - `skill` is the only skill that the tool `ask` asks.
    - `key` is the same for a repeated request.
    - `back` is the way back to the client, or None.
    - `is_stateless`: questions to the person are results.
    """

    version: str
    speaker: DoorSpeaker
    skill: str | None = None
    elicits: bool = False
    key: str | None = None
    back: BackChannel | None = None
    is_stateless: bool = False


def elicits(capabilities: Any) -> bool:
    """Return whether a client can show forms to its user."""
    offered = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(offered, dict) and ("form" in offered or "url" not in offered)
