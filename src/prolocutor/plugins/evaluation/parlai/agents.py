"""Baseline agents with ParlAI's names and behaviour: they observe a message and act.

Source: ParlAI 1.7.2, `parlai/agents/{repeat_label,repeat_query,fixed_response,random_candidate,
ir_baseline}`. An agent is made with its options. Its random generator is its own; `seed` seeds it.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

Act = dict[str, Any]
Observation = Mapping[str, Any]

UNKNOWN: Final = "I don't know."
NOTHING: Final = "Nothing to repeat yet."


class _Observer:
    """The shared part of the baselines: options, the last observation, a random generator."""

    name = ""

    def __init__(self, opt: Mapping[str, Any] | None = None) -> None:
        self.opt: Final = dict(opt or {})
        self.observation: Observation | None = None
        self._chance = random.Random(self.opt.get("seed", 42))

    def observe(self, observation: Observation) -> Observation:
        """Remember a message and return it."""
        self.observation = observation
        return observation

    def reset(self) -> None:
        """Forget the observation."""
        self.observation = None

    def seed(self, seed: int) -> None:
        """Seed the random generator."""
        self._chance.seed(seed)

    def clone(self) -> Any:
        """Return another agent of the kind, with the same options."""
        return type(self)(self.opt)

    def _says(self, text: str, **fields: Any) -> Act:
        return {"id": self.name, "text": text, **fields, "episode_done": False}

    def _observed_field(self, field: str) -> Any:
        return self.observation.get(field) if self.observation is not None else None


class RepeatLabelAgent(_Observer):
    """Repeats one of the labels: the score of a perfect agent.

    Options: `return_one_random_answer` (true; else all labels with a comma between them),
    `cant_answer_percent` (0), the share of unanswered examples, 0 to 1, `cant_answer_message`.
    """

    name = "RepeatLabelAgent"

    def __init__(self, opt: Mapping[str, Any] | None = None) -> None:
        super().__init__(opt)
        self._one = self.opt.get("return_one_random_answer", True)
        self._silent = self.opt.get("cant_answer_percent", 0)
        self._excuse = self.opt.get("cant_answer_message", UNKNOWN)

    def act(self) -> Act:
        """Return a label."""
        if (seen := self.observation) is None:
            return self._says(NOTHING)
        labels = seen.get("labels") or seen.get("eval_labels")
        if not labels or (self._silent and self._chance.random() < self._silent):
            return self._says(self._excuse)
        if isinstance(labels, str):
            return self._says(labels)
        if not self._one:
            return self._says(", ".join(labels))
        return self._says(labels[0] if len(labels) == 1 else self._chance.choice(list(labels)))


class RepeatQueryAgent(_Observer):
    """Repeats the text of the observation."""

    name = "RepeatQueryAgent"

    def act(self) -> Act:
        """Return the text of the observation."""
        text = self._observed_field("text")
        return self._says(NOTHING if text is None else text)


class FixedResponseAgent(_Observer):
    """Returns a fixed text. Option: `fixed_response`."""

    name = "FixedResponseAgent"

    def act(self) -> Act:
        """Return the text."""
        return self._says(self.opt.get("fixed_response") or UNKNOWN)


class RandomCandidateAgent(_Observer):
    """Ranks the candidates at random and returns the first."""

    name = "RandomCandidateAgent"

    def act(self) -> Act:
        """Return a candidate."""
        candidates = list(self._observed_field("label_candidates") or ())
        if not candidates:
            return self._says(UNKNOWN)
        self._chance.shuffle(candidates)
        return self._says(candidates[0], text_candidates=candidates)


class IrBaselineAgent(_Observer):
    """Ranks the candidates by the words they share with the latest texts, weighted by rarity.

    The weight of a word is its inverse document frequency among the example's candidates; a
    candidate's score is the weight that it shares over the power `length_penalty` (0.5) of its own
    whole weight. `history_size` (1) of the last texts are looked at. Ties keep their order.
    """

    name = "IrBaselineAgent"

    def __init__(self, opt: Mapping[str, Any] | None = None) -> None:
        super().__init__(opt)
        self._penalty = float(self.opt.get("length_penalty", 0.5))
        self._size = int(self.opt.get("history_size", 1))
        self._history: list[str] = []

    def observe(self, observation: Observation) -> Observation:
        """Remember a message and the texts before it."""
        if self._size > 0 and isinstance(text := observation.get("text"), str):
            self._history = [*self._history, text][-self._size :]
        return super().observe(observation)

    def reset(self) -> None:
        """Forget all texts."""
        super().reset()
        self._history = []

    def act(self) -> Act:
        """Return the candidate most similar to the latest texts."""
        candidates = tuple(self._observed_field("label_candidates") or ())
        if not candidates:
            return self._says(UNKNOWN)
        ranked = ranked_by_words(" ".join(self._history), candidates, self._penalty)
        return self._says(ranked[0], text_candidates=ranked)


def ranked_by_words(query: str, candidates: Iterable[str], penalty: float = 0.5) -> list[str]:
    """Return the candidates, the candidate most like the query first."""
    given = tuple(candidates)
    asked = set(_words(query))
    scores = [
        sum(weight for word, weight in weights.items() if word in asked) / whole**penalty
        if whole
        else 0.0
        for weights, whole in _weigh_words(given)
    ]
    return [given[place] for place in sorted(range(len(given)), key=lambda one: -scores[one])]


@lru_cache(maxsize=4)
def _weigh_words(candidates: tuple[str, ...]) -> list[tuple[dict[str, float], float]]:
    """Return the weights of each candidate's words, and their sum."""
    documents = [set(_words(one)) for one in candidates]
    counts = Counter(word for words in documents for word in words)
    weights = {word: math.log((1 + len(documents)) / count) for word, count in counts.items()}
    found = [{word: weights[word] for word in sorted(words)} for words in documents]
    return [(own, sum(own.values())) for own in found]


@lru_cache(maxsize=8192)
def _words(text: str) -> tuple[str, ...]:
    spaced = "".join(sign if sign.isalnum() else " " for sign in text.lower())
    return tuple(spaced.split())


AGENTS: Final[Mapping[str, type[_Observer]]] = {
    "repeat_label": RepeatLabelAgent,
    "repeat_query": RepeatQueryAgent,
    "fixed_response": FixedResponseAgent,
    "random_candidate": RandomCandidateAgent,
    "ir_baseline": IrBaselineAgent,
}
"""Name, as ParlAI has it -> class."""
