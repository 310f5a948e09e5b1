"""Turns: how one reply came about."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.errors import NotFound, StoreCorrupt
from prolocutor.plugins.console.resources import BASE
from prolocutor.plugins.console.turn_views import TurnView, view_of
from prolocutor.web.operations import Operation, TypedRequest

ReplyId: TypeAlias = Annotated[str, Meta(description="The `utt_id` of the reply.", max_length=100)]


class TurnPath(msgspec.Struct, frozen=True):
    """The parameters of a request about the turn of a reply."""

    utt_id: ReplyId


class ReplyEndpoints:
    """Shows turns."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        show = Operation(self.show_turn, errors=[NotFound])
        self.routes = [Route("GET", f"{BASE}/turns/{{utt_id}}", show, "operators")]

    async def show_turn(self, request: TypedRequest[TurnPath, None]) -> TurnView:
        """Show how a reply came about."""
        return await self.view(request.params.utt_id.lower())

    async def view(self, utt_id: str) -> TurnView:
        """Return how a reply came about; `NotFound` for an unknown one."""
        assistant = self._assistant
        if assistant.records.recorder is None:
            raise NotFound("this assistant keeps no records of turns")
        await assistant.records.recorder.settle()
        kept = await assistant.records.recorder.store.turn(utt_id)
        if kept is None:
            raise NotFound(f"no reply has the id {utt_id!s:.80}", field="utt_id")
        try:
            utterances = await assistant.store.turn(utt_id)
        except StoreCorrupt:
            utterances = []  # what is damaged is not shown; the rest is
        return view_of(kept, utterances, assistant.engine.prepared.graph)
