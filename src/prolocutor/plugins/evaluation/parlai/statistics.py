"""Statistics of data sets: what `prolocutor data stats` counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from prolocutor.errors import NotFound
from prolocutor.plugins.evaluation.parlai.bbai import Bbai
from prolocutor.plugins.evaluation.parlai.message import MessageFields


class DataStatistics(msgspec.Struct):
    """What was counted in the episodes of one data set; words are what spaces separate."""

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

    def counted(self, episodes: Iterable[Sequence[dict[str, Any]]]) -> Iterator[int]:
        """Count episodes one by one, giving the number of examples so far after each."""
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


class BbaiCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the BBAI data's own description counts, of one fold or all."""

    fold: str
    questions: int
    with_gold: int
    pairs: int
    agents: int
    domains: int


def bbai_counts(folder: str | Path) -> list[BbaiCounts]:
    """Count each fold of a BBAI folder that is there, and all of them together."""
    rows: list[BbaiCounts] = []
    all_agents: set[str] = set()
    all_domains: set[str] = set()
    for fold in ("train", "test"):
        agents: set[str] = set()
        domains: set[str] = set()
        questions = with_gold = pairs = 0
        try:
            for (message,) in Bbai(folder, fold=fold).episodes():
                questions += 1
                with_gold += bool(message["gold"])
                pairs += len(message.get("responses", ()))
                agents.update(message.get("responses", message["gold"]))
                domains.update(message[key] for key in ("intent",) if key in message)
        except NotFound:
            continue
        counted = {"questions": questions, "with_gold": with_gold, "pairs": pairs}
        rows.append(BbaiCounts(fold=fold, agents=len(agents), domains=len(domains), **counted))
        all_agents |= agents
        all_domains |= domains
    if not rows:
        raise NotFound(f"{folder}: there is no BBAI data here", field="data")
    total = BbaiCounts(
        fold="all",
        questions=sum(row.questions for row in rows),
        with_gold=sum(row.with_gold for row in rows),
        pairs=sum(row.pairs for row in rows),
        agents=len(all_agents),
        domains=len(all_domains),
    )
    return [*rows, total]
