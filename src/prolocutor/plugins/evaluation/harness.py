"""The harness: a target is asked all examples of some data, scored, and reported.

`prolocutor evaluate run` and `evaluate` below are two faces of `PreparedEvaluation`.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, Literal, TypedDict, Unpack

import msgspec

from prolocutor.data_sets import DataPlace, file_suffix, split
from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.episodes import Episode, Message, episodes_of_tasks
from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.owned_folder import content_hash, write_json
from prolocutor.plugins.evaluation.parlai.data_catalog import open_teacher
from prolocutor.plugins.evaluation.parlai.teacher import Datatype
from prolocutor.plugins.evaluation.run_folder import REPORT, RunFolder, load_rows, rows_in_order
from prolocutor.plugins.evaluation.run_report import Aggregate, RunReport, make_report
from prolocutor.plugins.evaluation.runner import Runner, RunOptions
from prolocutor.plugins.evaluation.scoring import TeacherScorer
from prolocutor.plugins.evaluation.targets import find_target

STORE: Final = "store"
MESSAGES: Final = "messages"

_WANTED: Final = "data are KIND:PATH, several of these, or messages"

DataInput = str | Sequence[str] | Iterable[Message]
"""`KIND:PATH`, several of these, or messages with `text` and `labels` or `eval_labels`.

A message without `episode_done` is an episode of its own, as in a file of JSON lines.
"""

_NO_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")
_FOLDER: Final = "runs"

RowsCallback = Callable[[int, list[ExampleRow]], None]
"""Called with the rows of each episode: their number, and the rows where they are new."""


class EvaluationData:
    """The examples of a run. `content`: a hash of the files, None where the data are not a file.

    `options` go to the kinds of data; `candidates="labels"` makes all labels the candidates.
    """

    def __init__(
        self,
        data: DataInput,
        datatype: str,
        *,
        mutators: str | None = None,
        candidates: Literal["labels"] | None = None,
        options: Mapping[str, Any] | None = None,
        seed: int = 42,
    ) -> None:
        fold = Datatype(datatype)
        if fold.cycle:
            what = f"{datatype} never ends; {datatype}:evalmode says it once"
            raise BadInput(what, field="datatype")
        self.content: str | None = None
        self._stored = False
        if not isinstance(data, Iterable):
            raise BadInput(_WANTED, field="data")
        given: list[Any] = [data] if isinstance(data, str) else list(data)
        specs = [one for one in given if isinstance(one, str)]
        if len(specs) < len(given):
            self._hold(given)
            changed = {"mutators": mutators, "candidates": candidates, "data_options": options}
            if given_for_files := [name for name, value in changed.items() if value]:
                what = f"{given_for_files[0]} is for data KIND:PATH, not for messages"
                raise BadInput(what, field=given_for_files[0])
            return
        parts = [split(spec) for spec in specs]
        self.specs = " ".join(specs)
        self.kinds = "+".join(kind for kind, _ in parts)
        self.name = "+".join(Path(path).stem for _, path in parts)
        self.tasks = _task_names(specs)
        self.content = content_hash(
            # A store changes with every turn; its examples are known by hashes of their own.
            _file(spec, fold.fold)
            for spec, (kind, _) in zip(specs, parts, strict=True)
            if kind != STORE
        )
        self._stored = any(kind == STORE for kind, _ in parts)
        self._sets: list[Any] = [
            open_teacher(
                spec,
                datatype,
                mutators=mutators or (),
                candidates=candidates,
                chance=random.Random(seed),
                **(options or {}),
            )
            for spec in specs
        ]

    def messages(self) -> list[tuple[str, Iterable[Message]]]:
        """Return the messages of each data set with its name, to be read once and in order."""
        # Reading a store runs an event loop, so finish it before the evaluation's loop runs.
        return [
            (task, list(messages) if self._stored else messages)
            for task, messages in zip(self.tasks, self._sets, strict=True)
        ]

    def number(self) -> int:
        """Count the examples, which may take a pass through the files."""
        return sum(len(one) if isinstance(one, list) else one.num_examples() for one in self._sets)

    def _hold(self, messages: list[Any]) -> None:
        if not all(isinstance(one, Mapping) for one in messages):
            raise BadInput(_WANTED, field="data")
        self.specs = self.kinds = self.name = MESSAGES
        self.tasks = [MESSAGES]
        self._sets = [[{"episode_done": True, **one} for one in messages]]


def _task_names(specs: Sequence[str]) -> list[str]:
    """Name data sets as short as tells them apart: by file without ending, file, or all of it."""
    names = [
        [Path(split(spec)[1]).stem for spec in specs],
        [Path(split(spec)[1]).name for spec in specs],
        list(specs),
    ]
    for found in names:
        if len(set(found)) == len(specs) and all(found):
            return found
    raise BadInput("the same data are given twice", field="data")


def _file(spec: str, fold: str) -> Path:
    kind, path = split(spec)
    suffix = file_suffix(kind)
    return Path(path) if suffix is None else DataPlace(spec=spec, path=path, fold=fold).file(suffix)


class EvaluationSettings(RunOptions, frozen=True, kw_only=True):
    """Settings of an evaluation, as the options of `prolocutor evaluate run`.

    `metrics` are names with commas between them. `options` belong to the agent, `data_options` to
    the kind of data. `time_limit`: seconds for an example.
    """

    metrics: str = "default"
    datatype: str = "valid"
    mutators: str | None = None
    candidates: Literal["labels"] | None = None
    data_options: dict[str, Any] = msgspec.field(default_factory=dict)
    aggregate: Aggregate = "macro"
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None
    options: dict[str, Any] = msgspec.field(default_factory=dict)


class EvaluationOptions(TypedDict, total=False):
    """The fields of `EvaluationSettings` as arguments by name."""

    metrics: str
    datatype: str
    mutators: str | None
    candidates: Literal["labels"] | None
    data_options: dict[str, Any]
    aggregate: Aggregate
    limit: int | None
    seed: int
    concurrency: int
    repeat: int
    time_limit: float | None
    retry_failed: bool
    options: dict[str, Any]


class EvaluationResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an evaluation: the report, and a row for each example, in order.

    `folder` is the run's folder, None if the run was not kept.
    """

    report: RunReport
    rows: list[ExampleRow]
    folder: Path | None = None


def evaluate(
    subject: object,
    data: DataInput,
    *,
    out: str | Path | None = None,
    **options: Unpack[EvaluationOptions],
) -> EvaluationResult:
    """Measure an assistant, an agent or a function on data, as `prolocutor evaluate run` does.

    `subject` is an assistant (its file, or an object that is not started yet); an agent that
    observes and acts (a name as on the command line, a class, or an object); or a function from
    text to text, plain or async, which may also return an act as a dictionary. `data` is
    `KIND:PATH`, a sequence of these, or messages. With `out` the run is kept in that folder, and
    resumed there the next time. Further arguments are the fields of `EvaluationSettings`.

    Raise `BadInput` for invalid arguments, `ConfigError` for a subject that cannot be made,
    `Conflict` if `out` holds another run. An exception of the subject is stored in its row. Call it
    where no event loop runs; elsewhere, and for a started assistant, await `evaluate_async`.
    """
    prepared = _prepare(subject, data, options)
    with _run_folder(out) as folder:
        return _result(prepared.run(folder), folder, out)


async def evaluate_async(
    subject: object,
    data: DataInput,
    *,
    out: str | Path | None = None,
    **options: Unpack[EvaluationOptions],
) -> EvaluationResult:
    """Do the same as `evaluate` in the running event loop; an assistant may be started already."""
    prepared = _prepare(subject, data, options)
    with _run_folder(out) as folder:
        return _result(await prepared.run_async(folder), folder, out)


class PreparedEvaluation:
    """A target, data and settings, checked before anything is asked."""

    def __init__(self, subject: object, data: DataInput, settings: EvaluationSettings) -> None:
        self._scorer = TeacherScorer(settings.metrics)
        self.target = find_target(subject, settings.options, settings.seed)
        self.data = EvaluationData(
            data,
            settings.datatype,
            mutators=settings.mutators,
            candidates=settings.candidates,
            options=settings.data_options,
            seed=settings.seed,
        )
        self.settings = settings
        self._subject = str(subject) if isinstance(subject, str | Path) else self.target.name

    @property
    def configuration(self) -> dict[str, Any]:
        """Return the settings that must be equal for a run to be resumed."""
        settings, data = self.settings, self.data
        return {
            "subject": self.target.name,
            "subject content": self.target.content,
            "options of the agent": settings.options or None,
            "data": data.kinds,
            "data content": data.content,
            "tasks": data.tasks if len(data.tasks) > 1 else None,
            "datatype": settings.datatype,
            "mutators": settings.mutators,
            "candidates": settings.candidates,
            "options of the data": settings.data_options or None,
            "metrics": settings.metrics,
            "seed": settings.seed,
            "repeat": settings.repeat,
            "time limit": settings.time_limit,
        }

    def default_folder(self) -> Path:
        """Return a folder named after the configuration, equal for equal configurations."""
        configuration = repr(sorted(self.configuration.items())).encode()
        digest = blake2b(configuration, digest_size=4).hexdigest()
        words = [_NO_NAME.sub("-", word).strip("-.") for word in (self.target.name, self.data.name)]
        return Path(_FOLDER, "-".join([*(word[:40] for word in words if word), digest]))

    def number(self) -> int:
        """Count the examples of the run."""
        return (self.settings.limit or self.data.number()) * self.settings.repeat

    def run(self, folder: Path, on_rows: RowsCallback | None = None) -> RunReport:
        """Ask the examples without a row in the folder, and report all rows."""
        episodes = self._episodes()
        with self._open_folder(folder) as kept:
            self.target.run(Runner(kept, self._scorer, self.settings, on_rows), episodes)
            return self._complete_run(kept)

    async def run_async(self, folder: Path, on_rows: RowsCallback | None = None) -> RunReport:
        """Do the same in the running event loop."""
        episodes = await asyncio.to_thread(self._episodes)
        with self._open_folder(folder) as kept:
            await self.target.run_async(
                Runner(kept, self._scorer, self.settings, on_rows), episodes
            )
            return self._complete_run(kept)

    def _open_folder(self, folder: Path) -> RunFolder:
        settings = self.settings
        given = {
            "subject": self._subject,
            "data": self.data.specs,
            "limit": settings.limit,
            "concurrency": settings.concurrency,
            "aggregate": settings.aggregate,
        }
        return RunFolder(folder, self.configuration, given)

    def _episodes(self) -> Iterator[Episode]:
        episodes = episodes_of_tasks(self.data.messages(), self.settings.limit)
        first = next(episodes, None)
        if first is None:
            raise BadInput(f"{self.data.specs} holds no example", field="data")
        return chain((first,), episodes)

    def _complete_run(self, kept: RunFolder) -> RunReport:
        kept.complete()
        settings = self.settings
        report = make_report(rows_in_order(kept.path), settings.metrics, settings.aggregate)
        write_json(kept.path / REPORT, report)
        return report


def _prepare(subject: object, data: DataInput, options: EvaluationOptions) -> PreparedEvaluation:
    unknown = options.keys() - EvaluationOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"evaluate() got an unexpected keyword argument {min(unknown)!r}")
    try:
        settings = msgspec.convert(options, EvaluationSettings)
    except msgspec.ValidationError as error:
        raise BadInput(str(error)) from None
    return PreparedEvaluation(subject, data, settings)


@contextmanager
def _run_folder(out: str | Path | None) -> Iterator[Path]:
    """Yield the folder of a run; without `out` a temporary folder."""
    if out is not None:
        yield Path(out)
        return
    with TemporaryDirectory(prefix="prolocutor-") as folder:
        yield Path(folder)


def _result(report: RunReport, folder: Path, out: str | Path | None) -> EvaluationResult:
    rows = load_rows(folder)
    return EvaluationResult(report=report, rows=rows, folder=None if out is None else folder)
