"""The console's pages: static files without data, and their first request."""

from __future__ import annotations

from collections.abc import Collection
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
    """The parameters of a request for a page; only the page itself interprets its path."""

    path: str = ""


class OperatorInfo(msgspec.Struct, frozen=True):
    """The operator, the assistant and its agents.

    `writes`: whether the operator's scopes allow more than reading. `session`: whether the operator
    signed in with an identity provider. `markdown` names the agents whose texts are Markdown.
    `icons` names the agents that have a picture at `/icons/<name>`.
    `data` are the paths from which other doors serve data for the console. `currency` is that of
    costs, "" where it is not known.
    """

    name: str
    writes: bool
    session: bool
    assistant: str
    agents: list[str]
    markdown: list[str]
    icons: list[str]
    data: list[str]
    currency: str


class ConsolePages:
    """Serves the console at `/console` and every address below it, which the page tells apart.

    The pages are open to everybody: only the addresses under `/api/console` return data.
    """

    def __init__(self, assistant: Assistant, data: Collection[str] = ()) -> None:
        self._assistant = assistant
        self._data = sorted(data)
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
        """Return the operator."""
        visitor, assistant = request.visitor, self._assistant
        services = assistant.services()
        agents = [one.name for one in services if one.stage is Stage.SKILL]
        writes = visitor.may("operators", reads=False)
        return OperatorInfo(
            visitor.name,
            writes,
            visitor.session is not None,
            assistant.name,
            agents,
            sorted(assistant.engine.prepared.markdown),
            [one.name for one in services if one.icon is not None],
            self._data,
            assistant.currency,
        )
