"""Teacher: data sets of dialogs, and teachers to present them to agents. Two protocols.

a new data set implements `EpisodeSource`: it yields episodes as they stand in its files.
worlds and evaluations use `Teacher`: ParlAI's verbs, with datatypes, mutators, candidates
and images already applied. ParlAI's `DialogTeacher` makes the second out of the first.

An example is a message: a dictionary with ParlAI's standard fields (`text`, `labels`,
`label_candidates`, `reward`, `image`, ...) and any others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

Example = dict[str, Any]
"""A ParlAI message; its fields are open by definition, so its values cannot be typed here."""


class Figure(Protocol):
    """A metric of a report, such as ParlAI's `AverageMetric`."""

    def value(self) -> float:
        """Return the metric as a number."""


class EpisodeSource(Protocol):
    """A data set as it stands in its files.

    Life cycle: the constructor reads nothing; `episodes` may be called any number of times, pass
    after pass, and reads as little ahead as it can: a data set may be larger than the memory. The
    yielded episodes belong to the caller, who may change them.
    """

    @property
    def id(self) -> str:
        """Name of the data set, such as its file with its folder."""

    @property
    def portion(self) -> float | None:
        """The part of the data read in the latest pass, 0 to 1; None where not known."""

    def episodes(self) -> Iterator[Sequence[Example]]:
        """Yield the episodes of a pass, none of them empty.

        The gold answers stand in `labels` (a list of str), never in `eval_labels`, and there is no
        `episode_done`: the teacher sets both. An `image` is a path or bytes.

        `BadData` names file, line and field of an unreadable value.
        """


@runtime_checkable
class CountedSource(EpisodeSource, Protocol):
    """A data set with a count of its parts."""

    def counts(self) -> Sequence[msgspec.Struct]:
        """Return a row for each part of the data, whose first field names it."""


class Teacher(Protocol):
    """Presents the examples of a data set in order and observes the answers: ParlAI's teacher."""

    @property
    def id(self) -> str:
        """Name of the task; every message carries it as `id`."""

    def act(self) -> Example:
        """Return the next example; after the end of an unrepeated pass, padding."""

    def observe(self, observation: Example) -> Example:
        """Score the answer to the latest example and return it."""

    def epoch_done(self) -> bool:
        """Return whether the latest example was the last of the data."""

    def reset(self) -> None:
        """Start again from the first example, with all scores at zero."""

    def report(self) -> Mapping[str, Figure]:
        """Return the scores since the last reset: name -> metric."""

    def num_episodes(self) -> int:
        """Return the number of episodes in the data, before mutators."""

    def num_examples(self) -> int:
        """Return the number of examples in the data, before mutators."""
