"""Console: the door of operators, at `/console` and under `/api/console`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant_settings import RecordSettings
from prolocutor.contracts.channel import DoorPlace, Route, WebSocketRoute
from prolocutor.errors import ConfigError, StoreError
from prolocutor.plugins.console.again_endpoints import AgainEndpoints
from prolocutor.plugins.console.agent_endpoints import AgentEndpoints
from prolocutor.plugins.console.agent_states import AgentStates
from prolocutor.plugins.console.call_log import CallLog
from prolocutor.plugins.console.conversation_endpoints import DialogListEndpoints
from prolocutor.plugins.console.figure_endpoints import FigureEndpoints
from prolocutor.plugins.console.handover_endpoints import HandoverEndpoints
from prolocutor.plugins.console.job_endpoints import JobEndpoints
from prolocutor.plugins.console.jobs import JobRegister
from prolocutor.plugins.console.live_endpoints import LiveEndpoints
from prolocutor.plugins.console.live_feed import LiveFeed
from prolocutor.plugins.console.model_desk import ModelDesk
from prolocutor.plugins.console.model_endpoints import ModelEndpoints
from prolocutor.plugins.console.note_endpoints import NoteEndpoints
from prolocutor.plugins.console.people_endpoints import PeopleEndpoints
from prolocutor.plugins.console.plan_endpoints import PlanEndpoint
from prolocutor.plugins.console.recent_figures import RecentFigures
from prolocutor.plugins.console.resources import ConsoleContext, ConsoleResource
from prolocutor.plugins.console.run_endpoints import RunEndpoints
from prolocutor.plugins.console.run_starts import RunStarts
from prolocutor.plugins.console.static_pages import ConsolePages
from prolocutor.plugins.console.training_endpoints import TrainingEndpoints, resolve_data
from prolocutor.plugins.console.turn_endpoints import ReplyEndpoints
from prolocutor.plugins.console.work_endpoints import WorkEndpoints
from prolocutor.web.door_context import DoorContext

JOBS_AT_ONCE: Final = {"again": 2, "evaluate": 1, "train": 1}
"""Jobs of a kind that run at the same time."""

_OF_FILES: Final = frozenset(("bbai", "conversations", "csv", "fbdialog", "jsonl", "parlai"))
"""Kinds of data that lie in files."""


class ConsoleDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The console of operators at `/console`."""

    is_usual: ClassVar[bool] = True
    operators_page: ClassVar[str] = "/console"
    runs: Annotated[
        str | None, Meta(description="The folder of evaluation runs, beside the file.")
    ] = None
    data: Annotated[
        str | list[str] | None,
        Meta(description="What models learn beside labels: KIND:PATH, with agents as labels."),
    ] = None
    cases: Annotated[
        str | list[str] | None,
        Meta(description="What runs evaluate: KIND:PATH, with the right answers as labels."),
    ] = None
    assistants: Annotated[
        dict[str, str],
        Meta(description="The files, by name, on which a turn may be run once more."),
    ] = {}

    calls: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Of how many of the latest turns requests and replies are kept in memory,"
            " word for word; 0 keeps none, and costs turns nothing.",
        ),
    ] = 100

    def check(self, place: DoorPlace) -> None:
        """Raise `ConfigError` for files that do not exist."""
        named = [("data", one) for one in resolve_data(self.data, place.folder)]
        named += [("cases", one) for one in resolve_data(self.cases, place.folder)]
        files = {f"assistants.{name}": file for name, file in self.assistants.items()}
        for key, file in files.items():
            if not (place.folder / file).is_file():
                raise ConfigError(f"there is no file {file}", key=f"doors.console.{key}")
        for key, one in named:
            kind, _, path = one.partition(":")
            if kind in _OF_FILES and not _find_parts(Path(path)):
                what = f"there is nothing at {path}"
                raise ConfigError(what, key=f"doors.console.{key}")

    def build(self, context: DoorContext) -> Console:
        """Return the door."""
        self.check(DoorPlace(context.folder, ()))
        return Console(context, self)


class Console:
    """The pages and actions of operators, each resource in a file of its own.

    An operator's name is the name of the key (`auth.keys`), `operator` if the key has no name, and
    `local` on the machine itself. Records of turns are kept even if the assistant was made without
    records, unless the file switches them off.
    """

    name: Final = "console"
    prefix: Final = "console:"

    def __init__(
        self,
        place: DoorContext,
        options: ConsoleDoor = ConsoleDoor(),  # noqa: B008 (frozen)
    ) -> None:
        assistant, folder, cards = place.assistant, place.folder, place.cards or {}
        if place.recording and assistant.records.recorder is None:
            assistant.records.keep(RecordSettings())
        recorder = assistant.records.recorder
        self._jobs = JobRegister(JOBS_AT_ONCE)
        context = ConsoleContext(assistant=assistant, jobs=self._jobs, folder=folder)
        self._recorder, self._states = recorder, AgentStates()
        figures, states = RecentFigures(), self._states
        self._models = ModelDesk(
            assistant.store, assistant.labels, assistant.models, has_data=options.data is not None
        )
        self._calls = CallLog(options.calls)
        assistant.observers.add(figures, states, self._calls)
        for step in assistant.engine.prepared.every() if options.calls else ():
            step.guard.observe(self._calls, step.stage_name)
        deadline = assistant.engine.prepared.limits.deadline
        slow = RecordSettings().slow_beyond(deadline) if recorder is None else recorder.slow
        turns = ReplyEndpoints(assistant, self._calls)
        self._archive = assistant.archive
        notes = NoteEndpoints(turns, assistant)
        runs = None if options.runs is None else folder / options.runs
        again = AgainEndpoints(context, turns, options.assistants)
        self._runs = RunEndpoints(runs, assistant.store)
        own = {} if place.file is None else {"": place.file.path}
        data, cases = (resolve_data(one, folder) for one in (options.data, options.cases))
        records = None if recorder is None else recorder.store
        resources: list[ConsoleResource] = [
            ConsolePages(context.assistant, place.operators_data),
            HandoverEndpoints(context.assistant),
            PeopleEndpoints(context.assistant),
            JobEndpoints(context.jobs, context.assistant.store),
            DialogListEndpoints(records, assistant.store, assistant.desk, turns.notes),
            turns,
            notes,
            again,
            AgentEndpoints(assistant, figures, states, cards),
            PlanEndpoint(assistant, figures, states, place.file),
            LiveEndpoints(LiveFeed(assistant, states, slow), recorder),
            WorkEndpoints(assistant, cards),
            FigureEndpoints(records, self._models),
            ModelEndpoints(self._models),
            TrainingEndpoints(
                assistant.labels,
                self._models,
                context.jobs,
                data=data,
                store=place.store,
            ),
            self._runs,
            RunStarts(self._jobs, notes, runs, files={**own, **again.files}, data=cases),
        ]
        self.routes: list[Route | WebSocketRoute] = [
            route for resource in resources for route in resource.routes
        ]

    async def open(self) -> None:
        """Watch from now on for replaced models and for deletions."""
        if self._recorder is not None:
            with suppress(StoreError):
                await self._states.read_earlier(self._recorder.store)
        self._models.open()
        self._archive.around_deletion += [self._runs.drop_deleted, self._calls.drop_deleted]

    async def close(self) -> None:
        """Stop the jobs, and the watches on models and deletions."""
        self._archive.around_deletion.remove(self._runs.drop_deleted)
        self._archive.around_deletion.remove(self._calls.drop_deleted)
        await self._jobs.aclose()
        await self._models.aclose()


def _find_parts(path: Path) -> bool:
    """Return whether data lie at a path, or are split into parts beside it (`F_train.txt`)."""
    return path.exists() or any(path.parent.glob(f"{path.stem}_*"))
