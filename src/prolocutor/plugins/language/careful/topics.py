"""Sensitive topics: the topic that an utterance touches, by the patterns of a data file."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from prolocutor.plugins.language.careful.helplines import named_countries, read_yaml
from prolocutor.plugins.language.careful.word_classes import ClassRule, WordClasses
from prolocutor.reading.languages import without_framing
from prolocutor.reading.plain_text import strip_accents

TopicName: TypeAlias = str

KEY: Final = "sensitive_topic"
"""The key by which any annotation names a sensitive topic."""

SURE: Final = 0.5
"""The confidence from which on an annotation of a sensitive topic counts."""

CARE: Final = "care"
"""The key by which an annotation says that an answer was a careful one not long ago."""

TURNS: Final = 3
"""Turns after a careful answer in which nothing is advertised."""

MAX_CHARACTERS: Final = 2000
"""Characters of an utterance that are searched, from its start and from its end."""

_TOPICS: Final = Path(__file__).with_name("topics.yaml")
_SAME: Final = str.maketrans("‘’ʼ´`“”–\u00a0", "'''''\"\"- ")


class _TopicEntry(msgspec.Struct, frozen=True):
    name: str
    words: list[str] = []
    rules: list[str] = []
    gives_way: bool = False


class _TopicFile(msgspec.Struct, frozen=True):
    topics: list[_TopicEntry]
    classes: dict[str, str] = {}
    harmless: list[str] = msgspec.field(name="not", default_factory=list)
    pleas: list[str] = []


class TopicPatterns(msgspec.Struct, frozen=True):
    """Compiled patterns: harmless wordings, classes of words, and the topics by precedence."""

    harmless: re.Pattern[str]
    classes: WordClasses
    topics: tuple[tuple[TopicName, re.Pattern[str]], ...]
    rules: tuple[ClassRule, ...]
    pleas: re.Pattern[str]
    yielding: frozenset[TopicName]

    def find_topic(self, text: str) -> TopicName | None:
        """Return the first topic that an utterance touches; None if it touches none.

        >>> patterns().topic_of("tell me a joke, I want to die")
        'self_harm'
        >>> patterns().topic_of("I'm dying of laughter, kill the timer")
        >>> patterns().topic_of("our puppy just ate a bar of chocolate")
        'animal'
        """
        said = _plain(text)
        # Taking out harmless wordings is the dearest step; few utterances need it.
        if self._match_topic(said) is None:
            return None
        return self._match_topic(self.harmless.sub(" … ", _without_opening_no(said)))

    def is_plea(self, text: str) -> bool:
        """Return whether an utterance asks for help, and says no more: "what do I do now?"."""
        return self.pleas.fullmatch(_plain(text).strip(" .!?¿¡,")) is not None

    def _match_topic(self, said: str) -> TopicName | None:
        shown = self.classes.fitting(said, self.rules)
        for name, words in self.topics:
            if name in shown or words.search(said):
                return name
        return None


def _without_opening_no(said: str) -> str:
    """Return a text without words that take back the turn before it: "no wait, walk the dog".

    Only a mark after them tells them from a denial: "no puede caminar".
    """
    request = without_framing(said, "mends")
    opening = said.removesuffix(request).rstrip()
    return request if opening.endswith((",", ".", "!", ";")) else said


class Lately(msgspec.Struct, frozen=True):
    """A careful answer not long ago: its topic, how many turns ago, the country named since."""

    topic: TopicName
    turns: int
    country: str | None = None


def notice(request: dict[str, Any]) -> dict[str, Any]:
    """Annotate an utterance: `{"sensitive_topic": name, "confidence": 1.0}`, or {}.

    It has `country` (ISO 3166) where the words, or the words of the turns before, name a country.
    In the three turns after a sensitive topic it is `{"care": {"topic": name, "turns": n}}`; but
    who only says where they are, or asks for help, gets the topic again. Needs the utterance before
    (`window: 3`) for all but the first sentence.
    """
    *earlier, last = request["human_utterances"]
    said = last.get("text")
    if not isinstance(said, str):
        return {}
    topic = patterns().find_topic(said)
    lately = _lately(earlier[-1]) if earlier else None
    if topic is not None:
        if lately and topic in patterns().yielding and lately.turns <= TURNS:
            topic = lately.topic
        country = lately.country if lately else None
        return _topic_annotation(topic, named_countries().find_last(said) or country)
    if lately is None or lately.turns > TURNS:
        return {}
    if country := named_countries().find_place(said):
        return _topic_annotation(lately.topic, country)
    if patterns().is_plea(said):
        return _topic_annotation(lately.topic, lately.country)
    return {CARE: msgspec.to_builtins(lately)}


def read_care(request: Mapping[str, Any]) -> Lately | None:
    """Return the careful answer before the last utterance, by its annotation.

    Its `turns` are 0 if the utterance itself touches a topic.
    """
    utterances = request.get("human_utterances") or [{}]
    return _read_note(utterances[-1])


def annotated_topic(request: Mapping[str, Any], names: Sequence[TopicName]) -> TopicName | None:
    """Return the topic that any annotation of the last utterance names, the first of `names`.

    An annotation counts if it is an object with `sensitive_topic` and no confidence below 0.5.
    """
    utterances = request.get("human_utterances") or [{}]
    annotations = utterances[-1].get("annotations") or {}
    found = {_read_topic(one) for one in annotations.values() if isinstance(one, dict)}
    return next((name for name in names if name in found), None)


@functools.cache
def patterns(path: Path = _TOPICS) -> TopicPatterns:
    """Return the compiled patterns of a file of topics.

    Raise the errors of YAML or msgspec for a bad file, KeyError for a missing class.
    """
    given = msgspec.convert(read_yaml(path), _TopicFile)
    classes = WordClasses(given.classes)
    topics = tuple((one.name, _any(one.words)) for one in given.topics)
    rules = tuple(classes.rule(one.name, rule) for one in given.topics for rule in one.rules)
    yielding = frozenset(one.name for one in given.topics if one.gives_way)
    return TopicPatterns(_any(given.harmless), classes, topics, rules, _any(given.pleas), yielding)


def _topic_annotation(topic: TopicName, country: str | None) -> dict[str, Any]:
    found = {KEY: topic, "confidence": 1.0}
    return found | {"country": country} if country else found


def _lately(before: Mapping[str, Any]) -> Lately | None:
    """Return the careful answer that the utterance before got or followed, a turn on."""
    noted = _read_note(before)
    return noted and msgspec.structs.replace(noted, turns=noted.turns + 1)


def _read_note(utterance: Mapping[str, Any]) -> Lately | None:
    annotations = (utterance.get("annotations") or {}).values()
    for one in annotations:
        if not isinstance(one, dict):
            continue
        country = one.get("country")
        if topic := _read_topic(one):
            return Lately(topic, 0, country if isinstance(country, str) else None)
        if CARE in one:
            try:
                return msgspec.convert(one[CARE], Lately)
            except msgspec.ValidationError:
                continue
    return None


def _read_topic(annotation: dict[str, Any]) -> TopicName | None:
    topic, confidence = annotation.get(KEY), annotation.get("confidence", 1.0)
    sure = isinstance(confidence, int | float) and confidence >= SURE
    return topic if sure and isinstance(topic, str) else None


def _plain(text: str) -> str:
    return strip_accents(" ".join(_searched_text(text).translate(_SAME).lower().split()))


def _searched_text(text: str) -> str:
    return (
        text
        if len(text) <= 2 * MAX_CHARACTERS
        else f"{text[:MAX_CHARACTERS]} {text[-MAX_CHARACTERS:]}"
    )


def _any(words: list[str]) -> re.Pattern[str]:
    return re.compile(strip_accents("|".join(f"(?:{one})" for one in words)) or r"(?!)")


# Loaded with the annotator, which must never wait.
patterns()
named_countries()
