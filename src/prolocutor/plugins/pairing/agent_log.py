"""Counts of agents' answers: each agent's repetitions, and the frequencies of words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from math import log, log1p
from typing import Final

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion
from prolocutor.plugins.pairing.text import content_stems
from prolocutor.reading.words import LONGEST_TEXT

_NUMBER: Final = re.compile(r"\d+")
_GAPS: Final = re.compile(r"\s+")
_MOST_ANSWERS: Final = 20_000
_MOST_STEMS: Final = 50_000
_MOST_CACHED: Final = 16_384
_LONGEST_CACHED: Final = 1000
_OPENING_WORDS: Final = 3
_DOUBT: Final = 50.0
_FEW: Final = 20.0
_TABLES: Final = ("verbatim", "shapes", "openings", "anybody")


class Repeats(msgspec.Struct, frozen=True):
    """The frequencies of an answer, each as ln(1 + 1000 count / (answers of the agent + 50)).

    `verbatim` by the agent itself, `shape` the same but for numbers, `opening` with the same first
    words, `others` verbatim by other agents.
    """

    verbatim: float = 0.0
    shape: float = 0.0
    opening: float = 0.0
    others: float = 0.0


class LogCounts(msgspec.Struct, frozen=True):
    """The tables of a log, as a model's folder stores them; keys are 64-bit hashes of texts."""

    answers: dict[str, int]
    fresh: dict[str, int]
    verbatim: list[tuple[int, int]]
    shapes: list[tuple[int, int]]
    openings: list[tuple[int, int]]
    anybody: list[tuple[int, int]]
    stems: list[tuple[int, int]]
    texts: int


class AgentLog:
    """Counts of agents' answers; of texts it stores hashes alone, and a bounded number of them.

    It is filled before the first turn and read by many turns at once. A full table drops entries
    that were seen once: only repetition is a feature, so nothing is lost.
    """

    def __init__(self, answered: Iterable[tuple[str, str]] = ()) -> None:
        self._answers: Counter[str] = Counter()
        self._fresh: Counter[str] = Counter()
        self._seen: dict[str, Counter[int]] = {name: Counter() for name in _TABLES}
        self._stems: Counter[int] = Counter()
        self._texts = 0
        self._rarities: dict[str, float] = {}
        for agent, text in answered:
            self.add(agent, text)

    def __len__(self) -> int:
        return self._answers.total()

    @classmethod
    def from_counts(cls, counts: LogCounts) -> AgentLog:
        """Return the log with these tables."""
        made = cls()
        made._answers, made._fresh = Counter(counts.answers), Counter(counts.fresh)
        made._seen = {name: Counter(dict(getattr(counts, name))) for name in _TABLES}
        made._stems, made._texts = Counter(dict(counts.stems)), counts.texts
        return made

    def counts(self) -> LogCounts:
        """Return the tables, to be stored."""
        return LogCounts(
            answers=dict(self._answers),
            fresh=dict(self._fresh),
            stems=list(self._stems.items()),
            texts=self._texts,
            **{name: list(table.items()) for name, table in self._seen.items()},
        )

    def add(self, agent: str, text: str) -> None:
        """Count an answer."""
        keys = _answer_keys(agent, text)
        self._answers[agent] += 1
        self._fresh[agent] += keys[0] not in self._seen["verbatim"]
        if keys[3] not in self._seen["anybody"]:
            self.add_text(text)
        for table, key in zip(self._seen.values(), keys, strict=True):
            table[key] += 1
            _bound(table, _MOST_ANSWERS)

    def add_text(self, text: str) -> None:
        """Count the words of a text other than an agent's answer, such as a question."""
        self._texts += 1
        self._rarities.clear()
        self._stems.update(_stem_keys(text[:LONGEST_TEXT]))
        _bound(self._stems, _MOST_STEMS)

    def repeats(self, agent: str, text: str, *, own: int = 0) -> Repeats:
        """Return an answer's frequencies for `agent`; `own` counts its own occurrences."""
        total = self._answers[agent]
        keys = _answer_keys(agent, text)
        mine, shape, opening, anybody = (
            table[key] for table, key in zip(self._seen.values(), keys, strict=True)
        )
        return Repeats(
            verbatim=_per_thousand(mine - own, total),
            shape=_per_thousand(shape - own, total),
            opening=_per_thousand(opening - own, total),
            others=_per_thousand(anybody - mine, total),
        )

    def variety(self, agent: str) -> float:
        """Return the share of new answers among an agent's answers, low while unknown."""
        return self._fresh[agent] / (self._answers[agent] + _FEW)

    def idf(self, stem: str) -> float:
        """Return the inverse document frequency of a stem, scaled to [0, 1]; 1 if never seen."""
        known = self._rarities.get(stem)
        return self._rarity(stem) if known is None else known

    def _rarity(self, stem: str) -> float:
        if self._texts == 0:
            return 1.0
        seen = self._stems.get(_stem_key(stem), 0)
        found = log(1 + self._texts / (seen + 0.5)) / log(1 + self._texts / 0.5)
        if len(self._rarities) >= _MOST_STEMS:
            self._rarities.clear()
        self._rarities[stem] = found
        return found


def build_agent_log(labelled: Iterable[LabelledQuestion]) -> AgentLog:
    """Return the log of questions and their answers; labels are not read."""
    made = AgentLog()
    for one in labelled:
        made.add_text(one.question.text)
        for agent, text in one.answers.items():
            made.add(agent, text)
    return made


@lru_cache(maxsize=50_000)
def _stem_key(stem: str) -> int:
    return _hash_texts(stem)


def _hash_texts(*parts: str) -> int:
    """Return a number of 64 bits for texts, the same in every run."""
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


@lru_cache(maxsize=_MOST_CACHED)
def _stem_keys(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(map(_stem_key, content_stems(text))))


def _answer_keys(agent: str, text: str) -> tuple[int, ...]:
    """Return the hashes of an answer for each of `_TABLES`; of usual length, they are cached."""
    return (_keys.__wrapped__ if len(text) > _LONGEST_CACHED else _keys)(agent, text)


@lru_cache(maxsize=2 * _MOST_CACHED)
def _keys(agent: str, text: str) -> tuple[int, ...]:
    """Folds and features ask for the same answers again and again."""
    whole = _GAPS.sub(" ", text.strip().lower())
    shape = _NUMBER.sub("#", whole)
    opening = " ".join(shape.split(" ", _OPENING_WORDS)[:_OPENING_WORDS])
    return (*(_hash_texts(agent, one) for one in (whole, shape, opening)), _hash_texts(whole))


def _per_thousand(times: int, total: int) -> float:
    return log1p(1000.0 * max(0, times) / (total + _DOUBT))


def _bound(table: Counter[int], most: int) -> None:
    if len(table) <= most:
        return
    least = 1
    while len(table) > most * 3 // 4:
        for key in [key for key, times in table.items() if times <= least]:
            del table[key]
        least *= 2
