"""Several tasks as one teacher.

Source: ParlAI 1.7.2's `MultiTaskTeacher`. In training in random order the task of each episode is
drawn by weight; otherwise tasks take turns, an episode each, until all are done.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import isfinite
from typing import Any, Final, Literal

from prolocutor.contracts.teacher import Example
from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.parlai.episodes import split_episodes
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.mutators import Chance
from prolocutor.plugins.evaluation.parlai.teacher import DialogTeacher

Aggregate = Callable[[Mapping[str, Mapping[str, Any]]], dict[str, Any]]


class MultiTaskTeacher:
    """Teaches several tasks of the same datatype in turns.

    `weights` are numbers, one for each task, 1 if missing, or "stochastic": the tasks' numbers of
    episodes. `aggregate` makes one report of the tasks' reports, such as `aggregate_named_reports`
    of `metrics`; without it all figures are reported as `task/name`.
    """

    def __init__(
        self,
        teachers: Sequence[DialogTeacher],
        weights: Sequence[float] | Literal["stochastic"] = (),
        *,
        chance: Chance = random,
        aggregate: Aggregate | None = None,
    ) -> None:
        if not teachers or len({one.datatype for one in teachers}) > 1:
            raise BadInput("several tasks need one datatype", field="datatype")
        if weights == "stochastic":
            weights = [one.num_episodes() for one in teachers]
        elif len(weights) > len(teachers):
            what = f"{len(weights)} weights are too many: there is one for each task"
            raise BadInput(what, field="weights")
        if bad := [one for one in weights if not (isfinite(one) and one >= 0)]:
            what = f"{bad[0]} is not a weight: that is a finite number, not below 0"
            raise BadInput(what, field="weights")
        self.tasks: Final = list(teachers)
        self.datatype: Final = teachers[0].datatype
        self._numbers: Final = range(len(teachers))
        filled = [*weights, *([1] * (len(teachers) - len(weights)))]
        self._cumulated: Final = list(accumulate(filled))
        if not self._cumulated[-1]:
            raise BadInput("one weight is above 0", field="weights")
        if not isfinite(self._cumulated[-1]):
            raise BadInput("the sum of the weights is not finite", field="weights")
        self._chance = chance
        self._aggregate = aggregate or _side_by_side
        self._present = -1
        self._between = True

    @property
    def id(self) -> str:
        """The names of all tasks, with commas between them."""
        return ",".join(one.id for one in self.tasks)

    @property
    def portion(self) -> float | None:
        """The read part of the data, 0 to 1: the mean over the tasks."""
        portions = [one.portion for one in self.tasks]
        known = [one for one in portions if one is not None]
        return sum(known) / len(portions) if known else None

    def act(self) -> Message:
        """Say the next example of the present task; padding when all are done."""
        while not self._between or self._choose():
            message = self.tasks[self._present].act()
            self._between = bool(message["episode_done"])
            if not message.is_padding():
                return message
        return Message.padding_example()

    def observe(self, observation: Example) -> Example:
        """Let the task of the latest act score the answer."""
        return self.tasks[self._present].observe(observation)

    def epoch_done(self) -> bool:
        """Return whether all tasks are done."""
        return all(one.epoch_done() for one in self.tasks)

    def reset(self) -> None:
        """Restart all tasks."""
        for one in self.tasks:
            one.reset()
        self._present, self._between = -1, True

    def report(self) -> dict[str, Any]:
        """Return the scores of all tasks in one report."""
        return self._aggregate({one.id: one.report() for one in self.tasks})

    def num_episodes(self) -> int:
        """Count the episodes of all tasks."""
        return sum(one.num_episodes() for one in self.tasks)

    def num_examples(self) -> int:
        """Count the examples of all tasks."""
        return sum(one.num_examples() for one in self.tasks)

    def getID(self) -> str:  # noqa: N802  (ParlAI's name)
        """Return the names of all tasks."""
        return self.id

    def __iter__(self) -> Iterator[Message]:
        """Go through all tasks from the start, an episode each in turn.

        Where the datatype repeats the data it goes on for ever.
        """
        walks = {
            number: split_episodes(iter(one), lambda said: bool(said["episode_done"]))
            for number, one in enumerate(self.tasks)
        }
        number = -1
        while walks:
            if self.datatype.shuffle:
                number = self._drawn()
            else:
                number = next((one for one in sorted(walks) if one > number), min(walks))
            if (episode := next(walks[number], None)) is None:
                del walks[number]
                if self.datatype.shuffle:
                    raise BadInput(f"{self.tasks[number].id} has no data", field="data")
            else:
                yield from episode

    def _choose(self) -> bool:
        """Choose the next task; False if all tasks are at their end."""
        if self.datatype.shuffle and not self.epoch_done():
            self._present = self._drawn()
            return True
        for step in self._numbers:
            number = (self._present + 1 + step) % len(self.tasks)
            if not self.tasks[number].epoch_done():
                self._present = number
                return True
        return False

    def _drawn(self) -> int:
        return self._chance.choices(self._numbers, cum_weights=self._cumulated)[0]


def _side_by_side(reports: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        f"{task}/{name}": one for task, report in reports.items() for name, one in report.items()
    }
