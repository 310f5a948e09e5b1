"""The runner asks every example without a row, and writes a row for it in any case.

The unit is the episode: a system is asked its turns in order, and several episodes at once. An
interrupted episode is asked again from its beginning, as systems keep no state beyond it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Annotated, Any, Final, Protocol

import msgspec

from prolocutor.errors import BadReply
from prolocutor.plugins.evaluation.episodes import Episode, example_group
from prolocutor.plugins.evaluation.evaluated_agent import (
    AgentRaised,
    EvaluatedAgent,
    EvaluatedSystem,
    Message,
    SystemReply,
)
from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.run_folder import RunFolder
from prolocutor.plugins.evaluation.scoring import plain_act, read_own_metrics

LONGEST_ERROR: Final = 2000
MOST_CANDIDATES: Final = 200
_CANDIDATES: Final = ("label_candidates", "text_candidates")
_ERRORS_THAT_END_ALL: Final = (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)


class ExampleScorer(Protocol):
    """A scorer of answers."""

    def score(self, message: Message, act: Mapping[str, Any]) -> dict[str, float | None]:
        """Return the scores of one example by name."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a run. `time_limit`: seconds for an example."""

    seed: int = 42
    repeat: Annotated[int, msgspec.Meta(ge=1)] = 1
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    time_limit: Annotated[float, msgspec.Meta(gt=0)] | None = None
    retry_failed: bool = False


class EpisodeRun(msgspec.Struct):
    """An episode to ask, with the number of earlier repeats."""

    episode: Episode
    repeat: int


class Runner:
    """Asks a system the examples without a row.

    `on_rows` is called for each episode with its number of rows, and with the rows if they are new.
    """

    def __init__(
        self,
        folder: RunFolder,
        scorer: ExampleScorer,
        options: RunOptions,
        on_rows: Callable[[int, list[ExampleRow]], None] | None = None,
    ) -> None:
        self._folder, self._scorer, self._options = folder, scorer, options
        self._on_rows = on_rows or (lambda number, rows: None)

    def run_agent(self, agent: EvaluatedAgent, episodes: Iterable[Episode]) -> None:
        """Ask an agent; without concurrency and time limit in the caller's thread (fastest)."""
        if self._options.concurrency > 1 or self._options.time_limit is not None:
            asyncio.run(self.run(agent, episodes))
            return
        for task in self._tasks(episodes):
            dialog = agent.begin_now(self._seed(task))
            rows = []
            for turn, message in enumerate(task.episode.messages):
                answer, error, start = SystemReply({}), None, time.perf_counter()
                try:
                    answer = dialog.answer_now(message)
                except _ERRORS_THAT_END_ALL:
                    raise
                except BaseException as fault:
                    error = error_text(fault)
                seconds = time.perf_counter() - start
                rows.append(self._row(task, turn, message, answer, seconds, error))
            self._keep(rows)

    async def run(self, system: EvaluatedSystem, episodes: Iterable[Episode]) -> None:
        """Ask a system, as many episodes at once as the options allow."""
        tasks = self._tasks(episodes)
        await work_together(self._options.concurrency, lambda: self._work(system, tasks))

    async def _work(self, system: EvaluatedSystem, tasks: Iterator[EpisodeRun]) -> None:
        for task in tasks:
            dialog = await system.begin(self._seed(task))
            rows, stuck = [], False
            try:
                for turn, message in enumerate(task.episode.messages):
                    answer, error, start = SystemReply({}), None, time.perf_counter()
                    scope = asyncio.timeout(self._options.time_limit)
                    stuck = True
                    try:
                        async with scope:
                            answer = await dialog.answer(message)
                        stuck = False
                    except _ERRORS_THAT_END_ALL:
                        raise
                    except BaseException as fault:
                        stuck = scope.expired()
                        error = self._late() if stuck else error_text(fault)
                    seconds = time.perf_counter() - start
                    rows.append(self._row(task, turn, message, answer, seconds, error))
            finally:
                system.end(dialog, stuck=stuck)
            self._keep(rows)

    def _tasks(self, episodes: Iterable[Episode]) -> Iterator[EpisodeRun]:
        again = self._options.retry_failed
        for episode in episodes:
            for repeat in range(self._options.repeat):
                if self._folder.has(episode, repeat, retry_failed=again):
                    self._on_rows(len(episode), [])
                else:
                    yield EpisodeRun(episode, repeat)

    def _seed(self, task: EpisodeRun) -> int:
        """Return the seed of an episode, independent of earlier episodes."""
        words = f"{self._options.seed}/{task.episode.number}/{task.repeat}"
        return int.from_bytes(blake2b(words.encode(), digest_size=7).digest(), "big")

    def _late(self) -> str:
        return f"no answer within {self._options.time_limit:g} s"

    def _row(
        self,
        task: EpisodeRun,
        turn: int,
        message: Message,
        answer: SystemReply,
        seconds: float,
        error: str | None,
    ) -> ExampleRow:
        episode = task.episode
        act = dict(answer.act)
        scores: dict[str, float | None] = {}
        metrics: dict[str, list[Any]] = {}
        if error is None:
            try:
                act = plain_act(act)
                metrics = read_own_metrics(act)
                act.pop("metrics", None)
                scores = self._scorer.score(message, act)
            except Exception as fault:
                what = str(fault) if isinstance(fault, BadReply) else error_text(fault)
                error = f"the answer cannot be scored: {what}"[:LONGEST_ERROR]
        if error is not None:
            scores, metrics = self._scorer.score(message, {"text": ""}), {}
        return ExampleRow(
            n=episode.first + turn,
            episode=episode.number,
            turn=turn,
            repeat=task.repeat,
            last=turn == len(episode.messages) - 1,
            example=episode.hashes[turn],
            group=example_group(message, episode.task),
            task=episode.task,
            input=_kept(message),
            act=_kept(act),
            by=answer.by,
            calls=answer.calls,
            scores=scores,
            metrics=metrics,
            seconds=round(seconds, 6),
            error=error,
        )

    def _keep(self, rows: list[ExampleRow]) -> None:
        self._folder.write(rows)
        self._on_rows(len(rows), rows)


async def work_together(number: int, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `work` in several tasks at once; raise the first of their errors by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(number):
                group.create_task(work())
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None


def _kept(message: Message) -> dict[str, Any]:
    """Return a message as its row has it: long lists of candidates are cut."""
    kept = dict(message)
    for field in _CANDIDATES:
        candidates = kept.get(field)
        if isinstance(candidates, list | tuple) and len(candidates) > MOST_CANDIDATES:
            kept[field] = list(candidates[:MOST_CANDIDATES])
    return kept


def error_text(fault: BaseException) -> str:
    """Return an error as a text of bounded length."""
    if isinstance(fault, AgentRaised) and fault.fault is not None:
        fault = fault.fault
    return f"{type(fault).__name__}: {fault}"[:LONGEST_ERROR]
