"""Page: the door with the chat page at `/`, which speaks the wire of the door `almond`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.channels.page.description import DESCRIPTION
from prolocutor.channels.page.explanations import TurnExplanations, discreet
from prolocutor.channels.page.ownership import may_see, user_of
from prolocutor.channels.page.static_files import StaticFiles
from prolocutor.channels.page.uploads import Uploads
from prolocutor.contracts.channel import HttpRequest, HttpResponse, Route
from prolocutor.errors import BadInput, NotFound
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.web.requests import json_object, json_response

_HEX: Final = re.compile(r"[0-9a-fA-F]{32}")


class Page:
    """The chat page, the pictures that are uploaded there, and how an answer came about.

    `recent` has to be among the assistant's observers; without it the panel shows what is stored.
    `uploads` is the folder of the pictures; without it they live as long as the door.
    """

    name: Final = "page"
    prefix: Final = "page:"

    def __init__(
        self,
        assistant: Assistant,
        *,
        recent: RecentTurns | None = None,
        uploads: str | Path | None = None,
    ) -> None:
        files = StaticFiles(assistant.name)
        self._assistant = assistant
        self._store = assistant.store
        self._turns = TurnExplanations(assistant.store, recent)
        self._uploads = Uploads(assistant.store, Path(uploads) if uploads is not None else None)
        self.routes: list[Route] = [
            Route("GET", "/", files.index, "all"),
            Route("GET", "/page/{file:path}", files.one, "all"),
            Route("GET", "/api/visitor", self._visitor),
            Route("GET", "/api/turns/{utt_id}", self._turn),
            Route("POST", "/rating/reply", self._rate),
            Route("POST", "/uploads", self._upload),
            Route("GET", "/uploads/{name}", self._picture, "all"),
        ]

    def openapi(self) -> dict[str, Any]:
        """Describe the HTTP routes."""
        return DESCRIPTION

    async def open(self) -> None:
        """Remove pictures of people who were deleted meanwhile."""
        await self._uploads.sweep()

    async def close(self) -> None:
        """Let go of pictures that were kept for this run alone."""
        self._uploads.close()

    async def _visitor(self, request: HttpRequest) -> HttpResponse:
        visitor = request.visitor
        return json_response({"kind": visitor.kind, "user": visitor.user})

    async def _turn(self, request: HttpRequest) -> HttpResponse:
        utt_id = request.params["utt_id"]
        turn = await self._turns.find(utt_id) if await self._is_theirs(request, utt_id) else None
        if turn is None:
            raise NotFound(f"there is no reply {utt_id:.80}", field="utt_id")
        return json_response(turn if request.visitor.kind == "operator" else discreet(turn))

    async def _rate(self, request: HttpRequest) -> HttpResponse:
        body = await json_object(request)
        utt_id, rating = body.get("utt_id"), body.get("rating")
        if not isinstance(utt_id, str):
            raise BadInput("utt_id is needed, as a text", field="utt_id")
        if rating not in (-1, 1) or isinstance(rating, bool):
            raise BadInput("a rating is 1 or -1", field="rating")
        if not await self._is_theirs(request, utt_id):
            raise NotFound(f"there is no reply {utt_id:.80}", field="utt_id")
        user = user_of(request)
        await self._assistant.rate_utterance(utt_id.lower(), rating, user)
        return HttpResponse(status=204)

    async def _is_theirs(self, request: HttpRequest, utt_id: str) -> bool:
        """Return whether a visitor may see this reply; what is somebody else's is as if unknown."""
        if not _HEX.fullmatch(utt_id):
            raise BadInput("an utterance's id is made of 32 hex digits", field="utt_id")
        owner = await self._store.owner_of(utt_id.lower())
        return owner is not None and may_see(request, owner)

    async def _upload(self, request: HttpRequest) -> HttpResponse:
        name = await self._uploads.keep(user_of(request), await request.body())
        return json_response({"url": f"/uploads/{name}"}, 201)

    async def _picture(self, request: HttpRequest) -> HttpResponse:
        return await self._uploads.show(request.params["name"])
