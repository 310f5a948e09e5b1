"""Trainings: a router or ranker learns in a process of its own while the assistant serves."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from prolocutor.assistant.operator_desk import OperatorLabel, OperatorLabels
from prolocutor.contracts.channel import Route
from prolocutor.contracts.model_use import (
    ModelInUse,
    TaughtLesson,
    TrainingEnd,
    TrainingLabel,
    TrainingOrder,
    TrainingReport,
    TrainingStep,
)
from prolocutor.contracts.pairing import LabelledQuestion, Role, UserQuestion
from prolocutor.errors import BadInput, Overloaded, ServiceUnreachable
from prolocutor.plugins.console.jobs import Job, JobRegister, JobStarted
from prolocutor.plugins.console.model_desk import ModelDesk
from prolocutor.plugins.console.resources import BASE
from prolocutor.processes.line_process import LineProcess
from prolocutor.web.operations import OperatorWrite, TypedRequest

START_TIMEOUT: Final = 60.0
"""Seconds for the start of a training's process."""


class WhatToTrain(msgspec.Struct, frozen=True):
    """The role to train with the labels."""

    what: Literal["router", "ranker"]


class TrainingEndpoints:
    """Starts trainings; `data` (KIND:PATH) is learned with labels, `store` is the store's URL."""

    def __init__(
        self,
        labels: OperatorLabels,
        desk: ModelDesk,
        jobs: JobRegister,
        *,
        data: Sequence[str] = (),
        store: str | None = None,
    ) -> None:
        self._labels, self._desk, self._jobs = labels, desk, jobs
        self._data = list(data)
        self._store = None if store is None or store.startswith("memory") else store
        train = OperatorWrite(self.train, status=202, errors=[BadInput, Overloaded])
        self.routes = [Route("POST", f"{BASE}/train", train, "operators")]

    async def train(self, request: TypedRequest[None, WhatToTrain]) -> JobStarted:
        """Train a router or ranker beside the model in use; the result compares the two models."""
        role = request.body.what
        self._desk.find_in_use(role)
        if role in await self._desk.idle_roles():
            what = f"there is nothing for the {role} to learn: no label, no thumb, no data"
            raise BadInput(what, field="what")

        async def work(job: Job) -> TrainingReport:
            return await self._train(role, job)

        return JobStarted(self._jobs.start("train", work, by=request.visitor.name).id)

    async def _train(self, role: Role, job: Job) -> TrainingReport:
        used, shelf = self._desk.find_in_use(role)
        folder = await asyncio.to_thread(shelf.new_folder)
        try:
            order = await self._order(used, folder)
            report = await _run(used.source.trainer, order, job)
            await asyncio.to_thread(shelf.put, Path(order.out), report)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return report

    async def _order(self, used: ModelInUse, folder: Path) -> TrainingOrder:
        labels = await self._labels.all_labels()
        thumbs: Sequence[TaughtLesson] = [] if used.learner is None else used.learner.lessons()
        said = {(turn.user, turn.text) for label in labels for turn in label.turns}
        agents = [card.name for card in used.cards]
        return TrainingOrder(
            role=used.role,
            method=used.method,
            out=str(folder / "model"),
            live=str(used.source.folder),
            cards=used.cards,
            data=self._data,
            labels=[one for label in labels for one in lessons_of_label(label, agents)],
            rated=[one.labelled for one in thumbs if (one.user, one.text) not in said],
            taught=[one.labelled for one in thumbs],
            store=None if used.learner is not None else self._store,
            encoder=None if used.encoder is None else str(used.encoder),
        )


def resolve_data(data: str | Sequence[str] | None, folder: Path) -> list[str]:
    """Return data KIND:PATH with their paths resolved from a folder."""
    given = data if isinstance(data, list | tuple) else [] if data is None else [data]
    parts = [str(one).partition(":") for one in given]
    return [f"{kind}{colon}{folder / path}" if colon else kind for kind, colon, path in parts]


def lessons_of_label(label: OperatorLabel, agents: Sequence[str]) -> list[TrainingLabel]:
    """Return a lesson for each turn of a label. If nobody is right, every agent is wrong."""
    right = dict.fromkeys(label.agents, 1.0) or dict.fromkeys(agents, 0.0)
    return [
        TrainingLabel(
            id=label.id,
            question=LabelledQuestion(
                question=UserQuestion(text=turn.text),
                agents=right,
                gold=frozenset(label.agents),
                answers=turn.answers,
            ),
        )
        for turn in label.turns
    ]


async def _run(trainer: str, order: TrainingOrder, job: Job) -> TrainingReport:
    """Run a training to its end; the job fails if the process is killed or breaks."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[TrainingReport] = loop.create_future()

    def take(line: bytes) -> None:
        said = msgspec.json.decode(line, type=TrainingStep | TrainingEnd)
        if isinstance(said, TrainingStep):
            job.share = said.share
        elif not ended.done() and said.report is not None:
            ended.set_result(said.report)
        elif not ended.done():
            ended.set_exception(BadInput(said.error or "nothing was learned"))

    def lost(error: ServiceUnreachable) -> None:
        if not ended.done():
            what = f"the training broke off, and the model in use is as it was: {error}"
            ended.set_exception(ServiceUnreachable(what))

    process = LineProcess([sys.executable, "-m", trainer], name="training", take=take, lost=lost)
    try:
        await process.start(START_TIMEOUT)
        process.write(msgspec.json.encode(order))
        await process.drain()
        return await ended
    finally:
        if not ended.done():
            ended.cancel()
        process.kill("was stopped")
        await process.aclose()
