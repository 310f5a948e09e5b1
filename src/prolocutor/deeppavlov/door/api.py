"""DeepPavlov: the door whose addresses and JSON are those of DeepPavlov Agent's HTTP API.

Source: `deeppavlov_agent/http_api`, the development line. Better than there: a wrong request gets
a status and JSON that say what is wrong with it, and unknown ids are not passed over in silence.
"""

from __future__ import annotations

from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import HttpRequest, HttpResponse, Route, WebSocketRoute
from prolocutor.deeppavlov.door.description import DESCRIPTION
from prolocutor.deeppavlov.door.dialog_endpoints import DialogEndpoints
from prolocutor.deeppavlov.door.turn_endpoints import TurnEndpoints
from prolocutor.observe.service_times import ServiceTimes
from prolocutor.web.requests import json_response

_PONG: Final = HttpResponse(b'"pong"')


class DeepPavlov:
    """The door compatible with DeepPavlov Agent's HTTP API; its users are those of the assistant.

    `load` has to be among the assistant's observers; without it no response times are shown.
    """

    name = "deeppavlov"
    prefix = ""

    def __init__(self, assistant: Assistant, *, load: ServiceTimes | None = None) -> None:
        self._assistant = assistant
        self._load = load
        turns, archive = TurnEndpoints(assistant), DialogEndpoints(assistant)
        self.routes: list[Route | WebSocketRoute] = [
            Route("POST", "/", turns.post),
            WebSocketRoute("/chat/ws", turns.chat),
            Route("GET", "/ping", self._ping, "all"),
            Route("GET", "/api/dialogs", archive.dialog_ids),
            Route("GET", "/api/dialogs/", archive.dialog_ids),
            Route("GET", "/api/dialogs/{dialog_id}", archive.dialog),
            Route("GET", "/api/user/{user_external_id:path}", archive.dialogs_of),
            Route("DELETE", "/api/user/{user_external_id:path}", archive.delete, "operators"),
            Route("POST", "/rating/dialog", archive.rate_dialog),
            Route("POST", "/rating/utterance", archive.rate_utterance),
            Route("GET", "/debug/current_load", self._current_load, "operators"),
        ]

    def openapi(self) -> dict[str, Any]:
        """Describe the HTTP routes."""
        return DESCRIPTION

    async def open(self) -> None:
        """Do nothing: there is nothing to get ready."""

    async def close(self) -> None:
        """Do nothing: a turn that runs is the assistant's."""

    async def _ping(self, _: HttpRequest) -> HttpResponse:
        return _PONG

    async def _current_load(self, _: HttpRequest) -> HttpResponse:
        steps = self._assistant.engine.prepared.every()
        running = {step.name: step.guard.in_flight for step in steps}
        return json_response(
            {
                "current_load": {**running, "agent": self._assistant.busy},
                "response_time": self._load.means() if self._load is not None else {},
            }
        )
