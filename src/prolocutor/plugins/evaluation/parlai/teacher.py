"""DialogTeacher: presents the examples of a data set as ParlAI's teachers do, and scores answers.

Source: ParlAI 1.7.2's `FixedDialogTeacher` and `DialogTeacher`. One class serves all data sets;
their `Source`s differ. Better than in ParlAI: except for the datatype `train`, which draws episodes
at random, no more than two episodes are in memory at a time, `:stream` or not; and `train` keeps
large data in a temporary file.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, cast

from prolocutor.contracts.teacher import EpisodeSource, Example
from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.parlai.episodes import EpisodeBuffer
from prolocutor.plugins.evaluation.parlai.images import ImageLoader
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.mutators import (
    Chance,
    Mutator,
    MutatorOptions,
    make_mutators,
    mutate,
)

Fold = Literal["train", "valid", "test"]

FOLDS: Final = ("train", "valid", "test")
MODES: Final = ("stream", "ordered", "evalmode")

Candidates = Iterable[str] | Callable[[], Iterable[str]]


class Datatype:
    """One datatype, such as `train:stream:ordered`; `str()` gives it back.

    - `training`: the gold answers are in `labels`, else in `eval_labels`
    - `cycle`: after the end it starts again, and the epoch is never done
    - `random`: episodes are drawn with replacement (exactly `train`)
    - `shuffle`: of several tasks the next is drawn by weight, else they take turns
    - `stream`: nothing is kept in memory
    """

    __slots__ = ("cycle", "fold", "random", "shuffle", "stream", "text", "training")

    def __init__(self, text: str) -> None:
        fold, *modes = text.split(":")
        if fold not in FOLDS or not set(modes) <= set(MODES):
            raise BadInput(
                f"{text!r} is not a datatype: it is train, valid or test, with :stream, :ordered"
                " or :evalmode after it",
                field="datatype",
            )
        learns = fold == "train" and "evalmode" not in modes
        self.text = text
        self.fold = cast("Fold", fold)
        self.training = learns
        self.stream = "stream" in modes
        self.cycle = learns and "ordered" not in modes
        self.shuffle = self.cycle and not self.stream
        self.random = text == "train"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Datatype({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Datatype) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


class Scorer(Protocol):
    """Scores answers, such as `prolocutor.plugins.evaluation.parlai.metrics.TeacherMetrics`."""

    def evaluate_response(
        self, observation: Mapping[str, Any], labels: Sequence[str] | None
    ) -> None:
        """Score an answer."""

    def clear_recent(self) -> None:
        """Forget the scores of the latest answer."""

    def report_recent(self) -> dict[str, Any]:
        """Return the scores of the latest answer."""

    def report(self) -> dict[str, Any]:
        """Return the scores of all answers."""

    def clear(self) -> None:
        """Forget all scores."""


class DialogTeacher:
    """Teaches or tests with one data set.

    - `mutators`: names with `+` between them, or mutators; see `mutators.py`
    - `candidates`: the candidates of all examples, or a function that computes them once;
      missing true labels are added, for their example only
    - `images`: the mode and folder of images
    - `hide_labels`: outside training there are no `eval_labels` either
    - `chance`: where `train` draws episodes and `flatten` labels; by default the module `random`,
      as in ParlAI, so `random.seed` seeds both
    - `scorer`: scores the answers; by default there are no scores
    """

    def __init__(
        self,
        source: EpisodeSource,
        datatype: str | Datatype = "train",
        *,
        mutators: str | Iterable[str | Mutator] = (),
        mutator_options: MutatorOptions | None = None,
        candidates: Candidates | None = None,
        images: ImageLoader | None = None,
        hide_labels: bool = False,
        chance: Chance = random,
        scorer: Scorer | None = None,
    ) -> None:
        self.source = source
        self.datatype = Datatype(datatype) if isinstance(datatype, str) else datatype
        self._mutators = make_mutators(mutators, mutator_options, chance)
        self._given_candidates = candidates
        self._candidates: dict[str, None] | None = None
        self._listed: list[str] = []
        self._images = images or ImageLoader()
        self._hide_labels = hide_labels
        self._chance = chance
        self._scorer = scorer
        self._shelf: EpisodeBuffer | None = None
        self._counts: tuple[int, int] | None = None
        self._gold: Sequence[str] | None = None
        self._restart()

    @property
    def id(self) -> str:
        """Name of the data set."""
        return self.source.id

    @property
    def portion(self) -> float | None:
        """The read part of the data in the latest pass, 0 to 1; None if not known."""
        return self.source.portion

    def act(self) -> Message:
        """Return the next example; padding after the end of a pass that is not repeated.

        As in ParlAI `train:ordered` begins again after its end, though the epoch was done there.
        """
        if not self._buffer:
            self._fill()
        if not self._buffer:
            self._epoch_done = True
            self._gold = None
            return self._padding()
        message = self._buffer.popleft()
        self._epoch_done = self._last and not self._buffer
        self._gold = message.get("labels")
        return self._outward(message)

    def observe(self, observation: Example) -> Example:
        """Score the answer to the latest example, and return it with its `metrics`.

        Unlike ParlAI's this leaves the agent's own message as it is.
        """
        if self._scorer is None:
            return observation
        self._scorer.clear_recent()
        if self._gold is not None:
            self._scorer.evaluate_response(observation, self._gold)
            self._gold = None
        if not (recent := self._scorer.report_recent()):
            return observation
        return Message(observation, metrics=recent)

    def epoch_done(self) -> bool:
        """Return whether the latest example was the last of the data."""
        return self._epoch_done

    def reset(self) -> None:
        """Start again from the first example, without scores; mutators keep their random state."""
        self._restart()
        if self._scorer is not None:
            self._scorer.clear()

    def report(self) -> dict[str, Any]:
        """Return the scores since the last reset."""
        return self._scorer.report() if self._scorer is not None else {}

    def num_episodes(self) -> int:
        """Count the episodes of the data; this may take a pass through them."""
        return self._count()[0]

    def num_examples(self) -> int:
        """Count the examples of the data; this may take a pass through them."""
        return self._count()[1]

    def label_candidates(self) -> list[str] | None:
        """Return the candidates of all examples; None if they have none in common."""
        known = self._known_candidates()
        return None if known is None else list(known)

    def getID(self) -> str:  # noqa: N802  (ParlAI's name)
        """Return the name of the data set."""
        return self.id

    def __iter__(self) -> Iterator[Message]:
        """Go through the data from the start: once, or endlessly where the datatype repeats it.

        The next `act` does not depend on it.
        """
        for episode, _ in self._walk():
            for message in self._mutate(episode):
                yield self._outward(message)

    def episodes(self) -> Iterator[list[Message]]:
        """Go through the data once, mutated, as a data set: with `labels`, without `id`."""
        for given in self.source.episodes():
            episode: list[Message] = []
            for message in self._mutate(given):
                episode.append(message)
                if message.pop("episode_done", False):
                    yield episode
                    episode = []

    def _restart(self) -> None:
        self._buffer: deque[Message] = deque()
        self._episodes = self._walk()
        self._last = False
        self._epoch_done = False
        self._gold = None

    def _fill(self) -> None:
        """Fill the buffer with the next episode that mutators leave; keep it empty at the end."""
        begun_again = False
        while not self._buffer:
            episode, last = next(self._episodes, (None, True))
            if episode is not None:
                self._last = last
                self._buffer.extend(self._mutate(episode))
                continue
            if not self.datatype.training or self.datatype.stream or begun_again:
                return
            self._episodes, begun_again = self._walk(), True

    def _walk(self) -> Iterator[tuple[Sequence[Example], bool]]:
        """Yield episodes in the datatype's order, with whether each is the last."""
        if self.datatype.random:
            yield from self._drawn()
            return
        while True:
            ahead: Sequence[Example] | None = None
            for episode in self.source.episodes():
                if ahead is not None:
                    yield ahead, False
                ahead = episode
            if ahead is not None:
                yield ahead, not self.datatype.cycle
            if ahead is None or not self.datatype.cycle:
                return

    def _drawn(self) -> Iterator[tuple[Sequence[Example], bool]]:
        if self._shelf is None:
            self._shelf = EpisodeBuffer(self.source.episodes())
            self._counts = len(self._shelf), self._shelf.examples
        while len(self._shelf):
            yield self._shelf[self._chance.randrange(len(self._shelf))], False

    def _mutate(self, episode: Sequence[Example]) -> list[Message]:
        last = len(episode) - 1
        messages = [self._inward(one, place == last) for place, one in enumerate(episode)]
        return mutate(messages, self._mutators) if self._mutators else messages

    def _inward(self, example: Example, last: bool) -> Message:
        """Make the message of an example, before mutators."""
        message = Message(example)
        if "eval_labels" in message or "episode_done" in message:
            what = "a data set gives neither eval_labels nor episode_done: the teacher does"
            raise BadInput(what, field="eval_labels")
        if "image" in message:
            given = message.pop("image")
            if self._images.loads_images and given is not None:
                message["image"] = self._images.load(given)
        labels = message.get("labels")
        if labels is not None and (known := self._known_candidates()) is not None:
            added = [label for label in labels if label not in known]
            message.force_set("label_candidates", [*known, *added] if added else self._listed)
        message["episode_done"] = last
        return message

    def _outward(self, message: Message) -> Message:
        """Return a message as it leaves: a copy after mutators, which may keep theirs."""
        outward = message.copy() if self._mutators else message
        outward.force_set("id", self.id)
        if not self.datatype.training and "labels" in outward:
            labels = outward.pop("labels")
            if not self._hide_labels:
                outward["eval_labels"] = labels
        return outward

    def _padding(self) -> Message:
        message = Message.padding_example()
        message["id"] = self.id
        return message

    def _known_candidates(self) -> dict[str, None] | None:
        if self._candidates is None and self._given_candidates is not None:
            given = self._given_candidates
            self._candidates = dict.fromkeys(given() if callable(given) else given)
            self._listed = list(self._candidates)
        return self._candidates

    def _count(self) -> tuple[int, int]:
        if self._counts is None:
            episodes = examples = 0
            for episode in self.source.episodes():
                episodes += 1
                examples += len(episode)
            self._counts = episodes, examples
        return self._counts


def all_labels(source: EpisodeSource) -> list[str]:
    """Return every label of a data set in order of appearance, to serve as candidates."""
    found: dict[str, None] = {}
    for episode in source.episodes():
        for example in episode:
            found.update(dict.fromkeys(example.get("labels") or ()))
    return list(found)
