"""Turns as they run, over a socket, and earlier turns as a list."""

from __future__ import annotations

from typing import Final, get_args

import msgspec

from prolocutor.assistant.turn_record import TurnRecorder
from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.contracts.http import WebSocket
from prolocutor.contracts.turn_record_store import TurnPlace
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.console.live_feed import LiveFeed
from prolocutor.plugins.console.live_rows import (
    AskedNow,
    Begun,
    BreakerChange,
    Ended,
    LeftOut,
    PersonWanted,
    SettledNow,
    TurnChoice,
    TurnKind,
    make_row,
)
from prolocutor.plugins.console.paging import Cursor, CursorCodec, Limit
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.event_writing import end_refused
from prolocutor.web.operations import Operation, TypedRequest

KINDS: Final[tuple[TurnKind, ...]] = get_args(TurnKind)
CURSOR: Final = CursorCodec(TurnPlace)


class TurnPageParams(TurnChoice, frozen=True, kw_only=True):
    """The requested page of the list of turns."""

    cursor: Cursor = None
    limit: Limit = 50


class TurnRowPage(msgspec.Struct, frozen=True):
    """A page of turns, the latest first."""

    items: list[Ended]
    next: str | None


class LiveEndpoints:
    """Sends running turns to operators, and lists earlier turns."""

    def __init__(self, feed: LiveFeed, recorder: TurnRecorder | None) -> None:
        self._feed = feed
        self._recorder = recorder
        sends = Begun | AskedNow | SettledNow | Ended | BreakerChange | PersonWanted | LeftOut
        self.routes: list[Route | WebSocketRoute] = [
            WebSocketRoute(f"{BASE}/live", self.watch, "operators", reads=True, sends=sends),
            Route("GET", f"{BASE}/turns", Operation(self.list_turns), "operators"),
        ]

    async def list_turns(self, request: TypedRequest[TurnPageParams, None]) -> TurnRowPage:
        """List the recorded turns, the latest first: all, of a kind, or where a service failed."""
        params, recorder = request.params, self._recorder
        place = CURSOR.read(params.cursor)
        if recorder is None:
            raise NotFound("this assistant keeps no records of turns")
        await recorder.settle()
        if params.kind == "waits":
            return TurnRowPage([], None)
        page = await recorder.store.latest_turns(params.query(), place, params.limit)
        rows = [make_row(one.record, one.flags) for one in page.items]
        return TurnRowPage(rows, CURSOR.write(page.next))

    async def watch(self, socket: WebSocket) -> None:
        """Send the events of turns until the operator leaves; ignore the operator's messages."""
        kind = next((one for one in KINDS if one == (socket.query("kind") or "all")), None)
        if kind is None:
            end_refused(socket, BadInput(f"kind is one of {', '.join(KINDS)}", field="kind"))
            return
        choice = TurnChoice(
            kind=kind, failed=socket.query("failed") or None, code=socket.query("code") or None
        )
        with self._feed.viewing(socket, choice):
            async for _ in socket:
                pass
