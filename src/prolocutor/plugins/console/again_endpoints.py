"""Reruns: a stored turn is run again, on the assistant in use or on a changed assistant."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.contracts.turn_record_store import KeptTurn
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import BadInput, ConfigError, NotFound, Overloaded
from prolocutor.names import suggest
from prolocutor.plugins.console.jobs import Job, JobStarted
from prolocutor.plugins.console.resources import BASE, ConsoleContext
from prolocutor.plugins.console.said_again import TurnRunAgain, run_again
from prolocutor.plugins.console.turn_endpoints import ReplyEndpoints, TurnPath
from prolocutor.plugins.console.turn_views import TurnView, make_turn_view
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest


class ChosenAssistant(msgspec.Struct, frozen=True):
    """The assistant for the second run: one of the door's `assistants`, or the assistant in use."""

    assistant: str | None = None


class OtherAssistants(msgspec.Struct, frozen=True):
    """The names of the assistants on which turns can be run again, beside the one in use."""

    items: list[str]


class ComparedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a turn: its speaker, words, ranker's score, seconds and cost, and the full view."""

    spoke: str
    text: str
    score: float | None
    seconds: float | None
    cost: float | None
    record: TurnView


class ThenAndNow(msgspec.Struct, frozen=True, kw_only=True):
    """The stored turn and its rerun; `assistant` is None for the assistant in use."""

    assistant: str | None
    then: ComparedTurn
    now: ComparedTurn


class AgainEndpoints:
    """Runs turns again, as jobs, and stores nothing of the reruns."""

    def __init__(
        self, context: ConsoleContext, turns: ReplyEndpoints, assistants: Mapping[str, str]
    ) -> None:
        self._assistant = context.assistant
        self._jobs = context.jobs
        self._turns = turns
        self.files = {name: _file(name, path, context.folder) for name, path in assistants.items()}
        again = OperatorWrite(
            self.say_again, status=202, errors=[NotFound, Overloaded], returns=JobStarted
        )
        self.routes = [
            Route("POST", f"{BASE}/turns/{{utt_id}}/again", again, "operators"),
            Route("GET", f"{BASE}/assistants", Operation(self.list_assistants), "operators"),
        ]

    async def list_assistants(self, request: TypedRequest[None, None]) -> OtherAssistants:
        """List the assistants on which turns can be run again."""
        return OtherAssistants(list(self.files))

    async def say_again(self, request: TypedRequest[TurnPath, ChosenAssistant]) -> JobStarted:
        """Run a turn again, on the assistant in use or on a changed one."""
        name = request.body.assistant
        if name is not None and name not in self.files:
            known = suggest(name, self.files) if self.files else "the door names none"
            what = f"no assistant to run a turn on is called {name!s:.80}; {known}"
            raise NotFound(what, field="assistant")
        then = await self._turns.view(request.params.utt_id.lower())
        if not then.again:
            raise BadInput("nobody asked anything in this turn: it cannot be run again")
        run = partial(self._run, then, name)
        job = self._jobs.start("again", run, by=request.visitor.name, about=then.utt_id)
        return JobStarted(job.id)

    async def _run(self, then: TurnView, name: str | None, job: Job) -> ThenAndNow:
        assistant, recorder = self._assistant, self._assistant.records.recorder
        dialog = await assistant.store.dialog(then.dialog_id)
        kept = None if recorder is None else await recorder.store.turn(then.utt_id)
        if dialog is None or kept is None:
            raise NotFound("this turn was deleted meanwhile")
        job.share = 0.2
        async with AsyncExitStack() as stack:
            if name is not None:
                made = Assistant.from_file(self.files[name], store="memory:")
                assistant = await stack.enter_async_context(made)
                job.share = 0.5
            again = await run_again(assistant.engine, dialog, then.utt_id, kept.record)
            now = _view(again, assistant)
        return ThenAndNow(assistant=name, then=_compared_turn(then), now=_compared_turn(now))


def _file(name: str, path: Any, folder: Path) -> Path:
    """Return the file of an assistant; raise `ConfigError` if the file does not exist."""
    found = folder / str(path)
    if not found.is_file():
        raise ConfigError(f"there is no file {found}", key=f"doors.console.assistants.{name}")
    return found


def _view(again: TurnRunAgain, assistant: Assistant) -> TurnView:
    record = again.record
    kept = KeptTurn(
        utt_id=record.utt_id,
        dialog_id=DialogId(record.dialog_id),
        position=0,
        record=record,
    )
    return make_turn_view(kept, again.utterances, assistant.engine.prepared.graph)


def _compared_turn(view: TurnView) -> ComparedTurn:
    scores = [one.score for one in view.hypotheses if one.chosen and one.score is not None]
    return ComparedTurn(
        spoke=view.active_skill,
        text=view.response,
        score=scores[0] if scores else None,
        seconds=view.seconds,
        cost=view.cost,
        record=view,
    )
