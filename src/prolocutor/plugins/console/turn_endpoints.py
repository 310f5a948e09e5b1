"""Turns: the origin of a reply."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.contracts.turn_record_store import KeptTurn
from prolocutor.errors import NotFound, StoreCorrupt
from prolocutor.plugins.console.call_log import CallLog, ShownCall
from prolocutor.plugins.console.resources import BASE
from prolocutor.plugins.console.turn_notes import TurnNotes, given_label
from prolocutor.plugins.console.turn_views import TurnView, make_turn_view
from prolocutor.web.operations import Operation, TypedRequest

ReplyId: TypeAlias = Annotated[str, Meta(description="The `utt_id` of the reply.", max_length=100)]


class TurnPath(msgspec.Struct, frozen=True):
    """The parameters of a request about the turn of a reply."""

    utt_id: ReplyId


class CallsPath(msgspec.Struct, frozen=True):
    """The parameters of a request for the calls of a turn."""

    turn_id: Annotated[str, Meta(description="The `turn_id` of a turn.", max_length=100)]


class CallList(msgspec.Struct, frozen=True):
    """The calls of a turn, in the order in which they began."""

    items: list[ShownCall]


class ReplyEndpoints:
    """Shows turns, and the calls of the latest turns word for word."""

    def __init__(self, assistant: Assistant, calls: CallLog) -> None:
        self._assistant = assistant
        self._calls = calls
        self.notes = TurnNotes(assistant.store)
        show = Operation(self.show_turn, errors=[NotFound])
        called = Operation(self.list_calls, errors=[NotFound])
        self.routes = [
            Route("GET", f"{BASE}/turns/{{utt_id}}", show, "operators"),
            Route("GET", f"{BASE}/calls/{{turn_id}}", called, "operators"),
        ]

    async def list_calls(self, request: TypedRequest[CallsPath, None]) -> CallList:
        """List the calls of a turn: each service's request and its answer."""
        found = self._calls.calls(request.params.turn_id)
        if found is None:
            what = "requests and replies are kept of the latest turns since the start alone"
            raise NotFound(what, field="turn_id")
        return CallList(found)

    async def show_turn(self, request: TypedRequest[TurnPath, None]) -> TurnView:
        """Show the turn of a reply."""
        return await self.view(request.params.utt_id.lower())

    async def view(self, utt_id: str) -> TurnView:
        """Return the view of a reply's turn; raise `NotFound` for an unknown reply."""
        assistant, kept = self._assistant, await self.kept(utt_id)
        try:
            utterances = await assistant.store.turn(utt_id)
        except StoreCorrupt:
            utterances = []  # what is damaged is not shown; the rest is
        view = make_turn_view(kept, utterances, assistant.engine.prepared.graph)
        label = given_label(await assistant.labels.find_label(utt_id))
        return msgspec.structs.replace(view, note=await self.notes.find(utt_id), label=label)

    async def kept(self, utt_id: str) -> KeptTurn:
        """Return the kept parts of a reply's turn; raise `NotFound` for an unknown reply."""
        recorder = self._assistant.records.recorder
        if recorder is None:
            raise NotFound("this assistant keeps no records of turns")
        await recorder.settle()
        kept = await recorder.store.turn(utt_id.lower())
        if kept is None:
            raise NotFound(f"no reply has the id {utt_id!s:.80}", field="utt_id")
        return kept
