"""Statistics of data sets, for `prolocutor data stats`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from prolocutor.plugins.evaluation.parlai.message import MessageFields


class DataStatistics(msgspec.Struct):
    """Counts over the episodes of one data set; words are separated by white space."""

    episodes: int = 0
    examples: int = 0
    longest_episode: int = 0
    with_labels: int = 0
    labels: int = 0
    with_candidates: int = 0
    candidates: int = 0
    text_words: int = 0
    label_words: int = 0
    with_reward: int = 0
    reward: float = 0.0
    fields: dict[str, int] = {}

    def count_episodes(self, episodes: Iterable[Sequence[dict[str, Any]]]) -> Iterator[int]:
        """Count episodes, yielding the number of examples so far after each."""
        fields: Counter[str] = Counter(self.fields)
        for episode in episodes:
            self.episodes += 1
            self.longest_episode = max(self.longest_episode, len(episode))
            for example in episode:
                self._count(example)
                fields.update(example.keys())
            self.fields = dict(fields)
            yield self.examples

    def _count(self, example: dict[str, Any]) -> None:
        fields = MessageFields(example)
        labels, candidates = fields.gold, fields.label_candidates
        self.examples += 1
        self.with_labels += bool(labels)
        self.labels += len(labels)
        self.with_candidates += bool(candidates)
        self.candidates += len(candidates)
        self.text_words += len((fields.text or "").split())
        self.label_words += sum(len(label.split()) for label in labels)
        if reward := fields.reward:
            self.with_reward += 1
            self.reward += reward
