"""The socket of operators who watch turns as they run."""

from __future__ import annotations

from typing import Final, get_args

from prolocutor.contracts.channel import WebSocketRoute
from prolocutor.contracts.http import WebSocket
from prolocutor.errors import BadInput
from prolocutor.plugins.console.live_feed import LiveFeed
from prolocutor.plugins.console.live_rows import (
    AskedNow,
    Begun,
    BreakerChange,
    Ended,
    LeftOut,
    PersonWanted,
    SettledNow,
    TurnKind,
)
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.event_writing import end_refused

KINDS: Final[tuple[TurnKind, ...]] = get_args(TurnKind)


class LiveEndpoint:
    """Sends operators the running turns, of one kind (`?kind=`) or all."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed = feed
        sends = Begun | AskedNow | SettledNow | Ended | BreakerChange | PersonWanted | LeftOut
        self.routes = [
            WebSocketRoute(f"{BASE}/live", self.watch, "operators", reads=True, sends=sends)
        ]

    async def watch(self, socket: WebSocket) -> None:
        """Send the events of turns until the operator leaves; ignore the operator's messages."""
        kind = next((one for one in KINDS if one == (socket.query("kind") or "all")), None)
        if kind is None:
            end_refused(socket, BadInput(f"kind is one of {', '.join(KINDS)}", field="kind"))
            return
        with self._feed.viewing(socket, kind):
            async for _ in socket:
                pass
