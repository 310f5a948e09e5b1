"""Teachers and writers of data sets by kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, Literal

from prolocutor.catalog import Catalog
from prolocutor.contracts.teacher import EpisodeSource
from prolocutor.data_sets import open_source, split
from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.parlai.images import ImageLoader, ImageMode
from prolocutor.plugins.evaluation.parlai.mutators import Chance, Mutator, MutatorOptions
from prolocutor.plugins.evaluation.parlai.teacher import (
    Candidates,
    Datatype,
    DialogTeacher,
    Scorer,
    all_labels,
)

WRITERS: Final = Catalog[Callable[..., Any]](
    "writer", "prolocutor.data_writers", key="to", error=BadInput
)


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
    """Make the teacher of the data `KIND:PATH`.

    `candidates="labels"`: all labels of the data are the candidates. Paths of images are looked for
    beside the data. Further options belong to the kind.
    """
    source = open_source(data, Datatype(datatype).fold, **options)
    return DialogTeacher(
        source,
        datatype,
        mutators=mutators,
        mutator_options=mutator_options,
        candidates=_label_source(source) if candidates == "labels" else candidates,
        images=ImageLoader(image_mode, Path(split(data)[1]).parent),
        hide_labels=hide_labels,
        chance=chance,
        scorer=scorer,
    )


def open_writer(kind: str, file: Any, **options: Any) -> Any:
    """Make the writer of this kind for a file or an open text stream.

    `csv` takes `fields`, the columns; by default the fields of the first episode. Raise `BadInput`
    for a kind that cannot be written and for unknown options.
    """
    if kind not in (known := WRITERS.names()):
        raise BadInput(f"{kind} cannot be written; there are {', '.join(known)}", field="to")
    return WRITERS.make(kind, file, **options)


def _label_source(source: EpisodeSource) -> Callable[[], list[str]]:
    return lambda: all_labels(source)
