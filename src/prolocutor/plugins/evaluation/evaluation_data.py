"""The data of an evaluation: data sets `KIND:PATH`, or messages in memory."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from prolocutor.data_sets import DataPlace, split, suffix_of
from prolocutor.errors import BadInput
from prolocutor.owned_folder import content_of
from prolocutor.plugins.evaluation.episodes import Message
from prolocutor.plugins.evaluation.parlai.data_catalog import open_teacher
from prolocutor.plugins.evaluation.parlai.datatype import Datatype

STORE: Final = "store"
MESSAGES: Final = "messages"

_WANTED: Final = "data are KIND:PATH, several of these, or messages"

DataInput = str | Sequence[str] | Iterable[Message]
"""`KIND:PATH`, several of these, or messages with `text` and `labels` or `eval_labels`.

A message without `episode_done` is an episode of its own, as in a file of JSON lines.
"""


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
        self.content = content_of(
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
    suffix = suffix_of(kind)
    return Path(path) if suffix is None else DataPlace(spec=spec, path=path, fold=fold).file(suffix)
