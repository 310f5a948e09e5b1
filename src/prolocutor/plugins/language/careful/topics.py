"""Sensitive topics: which one an utterance touches, by the patterns of a data file."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
import yaml

from prolocutor.reading.accents import without_accents

TopicName: TypeAlias = str

KEY: Final = "sensitive_topic"
"""The key by which any annotation names a sensitive topic."""

SURE: Final = 0.5
"""The confidence from which on an annotation of a sensitive topic counts."""

LONGEST: Final = 2000
"""Characters of an utterance that are searched, from its start and from its end."""

_TOPICS: Final = Path(__file__).with_name("topics.yaml")
_SAME: Final = str.maketrans("‘’ʼ´`“”–\u00a0", "'''''\"\"- ")


class _TopicEntry(msgspec.Struct, frozen=True):
    name: str
    words: list[str]


class _TopicFile(msgspec.Struct, frozen=True):
    topics: list[_TopicEntry]
    harmless: list[str] = msgspec.field(name="not", default_factory=list)


class TopicPatterns(msgspec.Struct, frozen=True):
    """Compiled patterns: harmless wordings, and the topics in order of precedence."""

    harmless: re.Pattern[str]
    topics: tuple[tuple[TopicName, re.Pattern[str]], ...]

    def topic_of(self, text: str) -> TopicName | None:
        """Return the first topic that an utterance touches; None if it touches none.

        >>> patterns().topic_of("tell me a joke, I want to die")
        'self_harm'
        >>> patterns().topic_of("I'm dying of laughter, kill the timer")
        """
        said = without_accents(" ".join(_searched(text).translate(_SAME).lower().split()))
        rest = self.harmless.sub(" … ", said)
        return next((name for name, words in self.topics if words.search(rest)), None)


def notice(request: dict[str, Any]) -> dict[str, Any]:
    """Annotate an utterance: `{"sensitive_topic": name, "confidence": 1.0}`, or {}."""
    said = request["human_utterances"][-1].get("text")
    topic = patterns().topic_of(said) if isinstance(said, str) else None
    return {} if topic is None else {KEY: topic, "confidence": 1.0}


def annotated_topic(request: Mapping[str, Any], names: Sequence[TopicName]) -> TopicName | None:
    """Return the topic that any annotation of the last utterance names, the first of `names`.

    An annotation counts if it is an object with `sensitive_topic` and no confidence below 0.5.
    """
    utterances = request.get("human_utterances") or [{}]
    annotations = utterances[-1].get("annotations") or {}
    found = {_named(one) for one in annotations.values() if isinstance(one, dict)}
    return next((name for name in names if name in found), None)


@functools.cache
def patterns(path: Path = _TOPICS) -> TopicPatterns:
    """Return the compiled patterns of a file of topics; raise what YAML or msgspec raise."""
    given = msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), _TopicFile)
    topics = tuple((one.name, _any(one.words)) for one in given.topics)
    return TopicPatterns(_any(given.harmless), topics)


def _named(annotation: dict[str, Any]) -> TopicName | None:
    topic, confidence = annotation.get(KEY), annotation.get("confidence", 1.0)
    sure = isinstance(confidence, int | float) and confidence >= SURE
    return topic if sure and isinstance(topic, str) else None


def _searched(text: str) -> str:
    return text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]} {text[-LONGEST:]}"


def _any(words: list[str]) -> re.Pattern[str]:
    return re.compile(without_accents("|".join(f"(?:{one})" for one in words)) or r"(?!)")
