"""DeepPavlov: the door whose addresses and JSON are those of DeepPavlov Agent's HTTP API.

Source: `deeppavlov_agent/http_api`, the development line. Better than there: a wrong request gets
a status and JSON that say what is wrong with it, and unknown ids are not passed over in silence.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar, Final, Literal

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import beside
from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.contracts.http import HttpResponse, WebSocket
from prolocutor.doors.http.endpoints import DialogEndpoints, TurnEndpoints
from prolocutor.doors.http.messages import CurrentLoad, DialogState, SayReply, SayRequest
from prolocutor.errors import Conflict, NotFound
from prolocutor.observe.recent_turns import ServiceTimes
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import Operation, TypedRequest
from prolocutor.web.static_files import OWN_POLICY, StaticFiles

FOLDER: Final = Path(__file__).parent / "static"
"""A plain page for trying the WebSocket, as DeepPavlov Agent has it."""

LOAD_PERIOD: Final = 0.5
"""Seconds between two messages that show the load."""


class DeepPavlov:
    """The door compatible with DeepPavlov Agent's HTTP API; its users are those of the assistant.

    `load` has to be among the assistant's observers; without it no response times are shown.
    """

    name: Final = "deeppavlov"
    prefix: Final = ""

    def __init__(self, assistant: Assistant, *, load: ServiceTimes | None = None) -> None:
        self._assistant = assistant
        self._load = load
        turns, dialogs = TurnEndpoints(assistant), DialogEndpoints(assistant)
        files = StaticFiles(FOLDER, assistant.name, OWN_POLICY)
        list_dialogs = Operation(dialogs.list_dialogs)
        show_dialog = Operation(dialogs.show_dialog, returns=DialogState, errors=[NotFound])
        show_user = Operation(dialogs.list_dialogs_of, returns=list[DialogState])
        delete_user = Operation(dialogs.delete_person, status=204, errors=[NotFound])
        self.routes: list[Route | WebSocketRoute] = [
            Route("POST", "/", Operation(turns.say, errors=[Conflict, NotFound])),
            *files.routes("/chat", "/chat/{file}"),
            WebSocketRoute("/chat/ws", turns.chat, receives=SayRequest, sends=SayReply),
            Route("GET", "/ping", Operation(self.ping, returns=Literal["pong"]), "all"),
            Route("GET", "/api/dialogs", list_dialogs),
            Route("GET", "/api/dialogs/", list_dialogs),
            Route("GET", "/api/dialogs/{dialog_id}", show_dialog),
            Route("GET", "/api/user/{user_external_id:path}", show_user),
            Route("DELETE", "/api/user/{user_external_id:path}", delete_user, "operators"),
            Route("POST", "/rating/dialog", Operation(dialogs.rate_dialog, errors=[NotFound])),
            Route(
                "POST", "/rating/utterance", Operation(dialogs.rate_utterance, errors=[NotFound])
            ),
            Route("GET", "/debug/current_load", Operation(self.current_load), "operators"),
            WebSocketRoute(
                "/debug/current_load/ws", self.follow_load, "operators", sends=CurrentLoad
            ),
        ]

    async def ping(self, _: TypedRequest[None, None]) -> HttpResponse:
        """Answer "pong"."""
        return _PONG

    async def current_load(self, _: TypedRequest[None, None]) -> CurrentLoad:
        """Show the calls that run now, and mean seconds over the last five minutes."""
        return self._current()

    async def follow_load(self, socket: WebSocket) -> None:
        """Send the current load twice a second until the client leaves."""
        with beside(self._send_load(socket)):
            async for _ in socket:
                pass  # a client has nothing to say here

    async def _send_load(self, socket: WebSocket) -> None:
        while True:
            socket.send(msgspec.json.encode(self._current()).decode())
            await asyncio.sleep(LOAD_PERIOD)

    def _current(self) -> CurrentLoad:
        running = {one.name: one.in_flight for one in self._assistant.services()}
        return CurrentLoad(
            {**running, "agent": self._assistant.turns.busy},
            self._load.means() if self._load is not None else {},
        )


class DeepPavlovDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses and JSON of DeepPavlov Agent's HTTP API."""

    is_usual: ClassVar[bool] = True

    def build(self, context: DoorContext) -> DeepPavlov:
        """Return the door."""
        return DeepPavlov(context.assistant, load=context.times)


_PONG: Final = HttpResponse(b'"pong"')
