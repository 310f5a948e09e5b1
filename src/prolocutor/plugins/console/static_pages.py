"""The console's pages: static files that hold no data, and what they ask first."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse
from prolocutor.plan.pipeline import Stage
from prolocutor.web.operations import Operation, TypedRequest
from prolocutor.web.static_files import INDEX, OWN_POLICY, CachedCopy, StaticFiles

FOLDER: Final = Path(__file__).parent / "static"


class PagePath(CachedCopy, frozen=True, kw_only=True):
    """The parameters of a request for a page; what its path means, the page itself knows."""

    path: str = ""


class OperatorInfo(msgspec.Struct, frozen=True):
    """Who the operator is, and of which assistant with which agents.

    `writes`: whether the operator's scopes allow more than reading. `session`: whether the operator
    signed in with an identity provider. `markdown`: the agents whose texts are written in it.
    """

    name: str
    writes: bool
    session: bool
    assistant: str
    agents: list[str]
    markdown: list[str]


class ConsolePages:
    """Serves the console at `/console` and every address below it, where the page tells them apart.

    They are for all: only the addresses under `/api/console` tell anything.
    """

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._files = StaticFiles(FOLDER, assistant.name, OWN_POLICY)
        page = Operation(self.console_page, produces="text/html")
        self.routes: list[Route] = [
            *self._files.routes("/console", "/console/files/{file:path}"),
            Route("GET", "/console/{path:path}", page, "all"),
            Route("GET", "/api/console/operator", Operation(self.operator), "operators"),
        ]

    async def console_page(self, request: TypedRequest[PagePath, None]) -> HttpResponse:
        """Return the console."""
        return self._files.find(INDEX, request.params)

    async def operator(self, request: TypedRequest[None, None]) -> OperatorInfo:
        """Return who the operator is."""
        visitor, assistant = request.visitor, self._assistant
        agents = [one.name for one in assistant.services() if one.stage is Stage.SKILL]
        writes = visitor.may("operators", reads=False)
        return OperatorInfo(
            visitor.name,
            writes,
            visitor.session is not None,
            assistant.name,
            agents,
            sorted(assistant.engine.prepared.markdown),
        )
