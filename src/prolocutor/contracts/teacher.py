"""Teacher: data sets of dialogs, and who teaches and tests with them. Two promises.

`Source` is what a new data set writes: it gives episodes, as they stand in its files. `Teacher` is
what worlds and evaluations use: ParlAI's verbs, with datatypes, mutators, candidates and images
already applied. `prolocutor.parlai.teacher.DialogTeacher` makes the second out of the first.

An example is a message: a dictionary with ParlAI's standard fields (`text`, `labels`,
`label_candidates`, `reward`, `image`, ...) and any others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

Example = dict[str, Any]


class EpisodeSource(Protocol):
    """A data set as it stands in its files.

    Life cycle: made without reading anything; `episodes` may be called any number of times, one
    pass after the other, and reads as little ahead as it can, so that a data set may be larger
    than the memory. What it gives belongs to the caller, who may change it.
    """

    @property
    def id(self) -> str:
        """Name of the data set, such as its file with its folder."""

    @property
    def portion(self) -> float | None:
        """The part of the data that the latest pass has read, 0 to 1; None where not known."""

    def episodes(self) -> Iterator[Sequence[Example]]:
        """Go through the data once, episode by episode, none of them empty.

        The gold answers stand in `labels` (a list of str), never in `eval_labels`, and there is no
        `episode_done`: both are the teacher's to say. An `image` is a path or bytes.

        `BadData` names file, line and field of what cannot be read.
        """


class Teacher(Protocol):
    """Says the examples of a data set one by one and hears the answers: ParlAI's teacher."""

    @property
    def id(self) -> str:
        """Name of the task; every message carries it as `id`."""

    def act(self) -> Example:
        """Say the next example; after the last one of a pass that is not repeated, padding."""

    def observe(self, observation: Example) -> Example:
        """Hear the answer to what was said last, score it and give it back."""

    def epoch_done(self) -> bool:
        """Return whether what was said last was the end of the data."""

    def reset(self) -> None:
        """Begin anew, with the data and with the scores."""

    def report(self) -> dict[str, Any]:
        """Return the scores since the last reset: name -> metric."""

    def num_episodes(self) -> int:
        """Count the episodes of the data, before any mutators."""

    def num_examples(self) -> int:
        """Count the examples of the data, before any mutators."""
