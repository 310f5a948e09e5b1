"""The data that a command means, one or several `KIND:PATH`."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from prolocutor.errors import BadInput
from prolocutor.evaluation.content_hash import content_of
from prolocutor.evaluation.episodes import Message
from prolocutor.parlai.catalog import FILES, file_of, open_teacher, split
from prolocutor.parlai.datatype import Datatype

_STORE: Final = "store"
_STORED: Final = "prolocutor.evaluation.dialog_source:dialogs_of"


class EvaluationData:
    """What is asked. `content`: a hash of the files, None where the data are no file.

    `options` go to the kinds of data; `candidates="labels"` lets all labels be chosen from.
    """

    def __init__(
        self,
        specs: Sequence[str],
        datatype: str,
        *,
        mutators: str | None = None,
        candidates: Any = None,
        options: Mapping[str, Any] | None = None,
        seed: int = 42,
    ) -> None:
        fold = Datatype(datatype)
        if fold.cycle:
            what = f"{datatype} never ends; {datatype}:evalmode says it once"
            raise BadInput(what, field="datatype")
        parts = [split(spec) for spec in specs]
        self.kinds = "+".join(kind for kind, _ in parts)
        self.name = "+".join(Path(path).stem for _, path in parts)
        self.tasks = _task_names(specs)
        self._stored = any(kind == _STORE for kind, _ in parts)
        self._teachers = [
            open_teacher(
                spec,
                datatype,
                mutators=mutators or (),
                candidates=candidates,
                chance=random.Random(seed),
                **options_of(spec, options or {}),
            )
            for spec in specs
        ]
        self.content = content_of(
            # A store changes with every turn; its examples are known by hashes of their own.
            _file(kind, path, fold.fold)
            for kind, path in parts
            if kind != _STORE
        )

    def messages(self) -> list[tuple[str, Iterable[Message]]]:
        """Return each data set with its name, to be read once, one after the other."""
        # What reads a store runs an event loop of its own, so it has to be done before ours runs.
        return [
            (task, list(teacher) if self._stored else teacher)
            for task, teacher in zip(self.tasks, self._teachers, strict=True)
        ]

    def number(self) -> int:
        """Count the examples, which may take a pass through the files."""
        return sum(teacher.num_examples() for teacher in self._teachers)


def options_of(spec: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a kind of data, with what opens the dialogs of a store."""
    kind, path = split(spec)
    if kind != _STORE:
        return dict(options)
    module, _, name = _STORED.partition(":")
    return {**options, "dialogs": getattr(importlib.import_module(module), name)(path)}


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


def _file(kind: str, path: str, fold: str) -> Path:
    return file_of(Path(path), fold, FILES[kind]) if kind in FILES else Path(path)
