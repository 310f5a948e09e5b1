"""Console: the door of operators, at `/console` and under `/api/console`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.record_settings import RecordSettings
from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.contracts.pairing import Card
from prolocutor.observe.recent_figures import RecentFigures
from prolocutor.plugins.console.again_endpoints import AgainEndpoints
from prolocutor.plugins.console.agent_endpoints import AgentEndpoints
from prolocutor.plugins.console.agent_states import AgentStates
from prolocutor.plugins.console.conversation_endpoints import DialogListEndpoints
from prolocutor.plugins.console.handover_endpoints import HandoverEndpoints
from prolocutor.plugins.console.job_endpoints import JobEndpoints
from prolocutor.plugins.console.jobs import JobRegister
from prolocutor.plugins.console.live_endpoints import LiveEndpoint
from prolocutor.plugins.console.live_feed import LiveFeed
from prolocutor.plugins.console.model_desk import ModelDesk
from prolocutor.plugins.console.model_endpoints import ModelEndpoints
from prolocutor.plugins.console.people_endpoints import PeopleEndpoints
from prolocutor.plugins.console.plan_endpoints import HintedFile, PlanEndpoint
from prolocutor.plugins.console.resources import ConsoleContext, ConsoleResource
from prolocutor.plugins.console.run_endpoints import RunEndpoints
from prolocutor.plugins.console.share_endpoints import ShareEndpoints
from prolocutor.plugins.console.static_pages import ConsolePages
from prolocutor.plugins.console.training_endpoints import TrainingEndpoints, data_at
from prolocutor.plugins.console.turn_endpoints import ReplyEndpoints
from prolocutor.plugins.console.work_endpoints import WorkEndpoints

JOBS_AT_ONCE: Final = {"again": 2, "train": 1}
"""How many jobs of a kind run at a time."""


class Console:
    """What operators see and do, one resource a file.

    Their name is that of their key (`auth.keys`), `operator` where it has none, and `local` on the
    machine itself. `folder` is where the assistant's file lies. `runs` is the folder of evaluation
    runs and `data` (KIND:PATH, one or several) what models learn beside labels, both relative to
    it. `store` is the URL of the assistant's store, for trainings in processes of their own.
    `file` is what is known of the assistant's file, `cards` are those of its skills where they are
    not the services' own.
    With `recording`, records of turns are kept even where the assistant was made without.
    `assistants` are files by name, beside the assistant's own, on which turns may be run again.
    """

    name: Final = "console"
    prefix: Final = "console:"

    def __init__(
        self,
        assistant: Assistant,
        *,
        folder: Path = Path(),
        runs: str | None = None,
        data: str | list[str] | None = None,
        store: str | None = None,
        file: HintedFile | None = None,
        cards: Mapping[str, Card] | None = None,
        recording: bool = True,
        assistants: dict[str, str] | None = None,
    ) -> None:
        if recording and assistant.recorder is None:
            assistant.keep_records(RecordSettings())
        recorder = assistant.recorder
        self._jobs = JobRegister(JOBS_AT_ONCE)
        context = ConsoleContext(assistant=assistant, jobs=self._jobs, folder=folder)
        figures, states = RecentFigures(), AgentStates()
        self._models = ModelDesk(assistant.store, assistant.labels, assistant.models)
        assistant.observers += [figures, states]
        deadline = assistant.engine.prepared.limits.deadline
        slow = RecordSettings().slow_beyond(deadline) if recorder is None else recorder.slow
        turns = ReplyEndpoints(assistant)
        resources: list[ConsoleResource] = [
            ConsolePages(context.assistant),
            HandoverEndpoints(context.assistant),
            PeopleEndpoints(context.assistant),
            JobEndpoints(context.jobs, context.assistant.store),
            DialogListEndpoints(None if recorder is None else recorder.store, assistant.desk),
            turns,
            AgainEndpoints(context, turns, assistants or {}),
            AgentEndpoints(assistant, figures, states, cards or {}),
            PlanEndpoint(assistant, figures, states, file),
            LiveEndpoint(LiveFeed(assistant, states, slow)),
            WorkEndpoints(assistant, cards or {}),
            ShareEndpoints(assistant.store, self._models),
            ModelEndpoints(self._models),
            TrainingEndpoints(
                assistant.labels,
                self._models,
                context.jobs,
                data=data_at(data, folder),
                store=store,
            ),
            RunEndpoints(None if runs is None else folder / str(runs)),
        ]
        self.routes: list[Route | WebSocketRoute] = [
            route for resource in resources for route in resource.routes
        ]

    async def open(self) -> None:
        """Look from now on whether models are replaced."""
        self._models.open()

    async def close(self) -> None:
        """Stop the jobs, and what looks at models."""
        await self._jobs.aclose()
        await self._models.aclose()
