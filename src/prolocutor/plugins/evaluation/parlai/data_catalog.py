"""The data sets by kind.

Another package adds its own through an entry point in the group `prolocutor.data`:
name -> a class made as `Class(path, **options)` that keeps `contracts.teacher.Source`.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, Literal

from prolocutor.catalog import Catalog
from prolocutor.contracts.teacher import EpisodeSource
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.evaluation.parlai.datatype import Datatype
from prolocutor.plugins.evaluation.parlai.images import ImageLoader, ImageMode
from prolocutor.plugins.evaluation.parlai.mutators import Chance, Mutator, MutatorOptions
from prolocutor.plugins.evaluation.parlai.teacher import (
    Candidates,
    DialogTeacher,
    Scorer,
    all_labels,
)

DATA: Final = Catalog[Callable[..., EpisodeSource]](
    "kind of data", "prolocutor.data", key="data", error=BadInput
)
WRITERS: Final = Catalog[Callable[..., Any]](
    "writer", "prolocutor.data_writers", key="to", error=BadInput
)
FILES: Final = {
    "parlai": ".txt",
    "fbdialog": ".txt",
    "conversations": ".jsonl",
    "jsonl": ".jsonl",
    "csv": ".csv",
    "rewrites": ".json",
}
"""The kinds that are files, and how the names of their folds' files end."""


def split(data: str) -> tuple[str, str]:
    """Take `KIND:PATH` apart."""
    kind, colon, path = data.partition(":")
    if not colon:
        raise BadInput(f"{data!r} is not KIND:PATH, such as jsonl:questions.jsonl", field="data")
    return kind, path


def open_source(data: str, fold: str = "train", **options: Any) -> EpisodeSource:
    """Make the data set that `KIND:PATH` means; `BadInput` for what its kind does not know.

    PATH is a file. If there is none of that name, it is `PATH_<fold>` with the kind's ending, or
    the file `<fold>` with that ending in the folder PATH. `store` needs `dialogs`, see
    `stored_dialogs.py`.
    """
    kind, path = split(data)
    known = inspect.signature(DATA.load(kind)).parameters
    given: dict[str, Any] = {}
    if kind == "store":
        given["name"] = data
    elif kind in FILES:
        given["file"] = file_of(Path(path), fold, FILES[kind])
    elif kind in DATA.names():
        given["folder"] = path
    if "fold" in known:
        options["fold"] = fold
    positional = [] if given else [path]
    return DATA.make(kind, *positional, **given, **options)


def open_teacher(
    data: str,
    datatype: str = "test",
    *,
    mutators: str | Iterable[str | Mutator] = (),
    mutator_options: MutatorOptions | None = None,
    candidates: Candidates | Literal["labels"] | None = None,
    image_mode: ImageMode = "raw",
    hide_labels: bool = False,
    chance: Chance = random,
    scorer: Scorer | None = None,
    **options: Any,
) -> DialogTeacher:
    """Make the teacher of the data that `KIND:PATH` means.

    `candidates="labels"`: all labels of the data are the candidates. Paths of images are looked for
    beside the data. Further options are those of the kinds.
    """
    source = open_source(data, Datatype(datatype).fold, **options)
    return DialogTeacher(
        source,
        datatype,
        mutators=mutators,
        mutator_options=mutator_options,
        candidates=_labels_of(source) if candidates == "labels" else candidates,
        images=ImageLoader(image_mode, Path(split(data)[1]).parent),
        hide_labels=hide_labels,
        chance=chance,
        scorer=scorer,
    )


def open_writer(kind: str, file: Any, **options: Any) -> Any:
    """Make the writer of this kind for a file or an open text stream.

    `csv` takes `fields`, the columns: unless given, those of the first episode. `BadInput` for a
    kind that cannot be written and for options that it does not know.
    """
    if kind not in (known := WRITERS.names()):
        raise BadInput(f"{kind} cannot be written; there are {', '.join(known)}", field="to")
    return WRITERS.make(kind, file, **options)


def file_of(path: Path, fold: str, suffix: str) -> Path:
    """Find the file of a fold; `NotFound` names all the places."""
    places = [path, Path(f"{path}_{fold}{suffix}"), path / f"{fold}{suffix}"]
    for place in places:
        if place.is_file():
            return place
    tried = ", ".join(map(str, places[1:]))
    raise NotFound(f"{path}: there is no such file, nor {tried}", field="data")


def _labels_of(source: EpisodeSource) -> Callable[[], list[str]]:
    return lambda: all_labels(source)
