"""Careful answers: a skill that says them, a rule that asks it alone, and a last check.

`answer` is a skill, `choose` a skill selector and `keep` a postprocessor; the three of them belong
together with an annotator: `topics:notice`, or any other that names a `sensitive_topic`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.plugins.language.careful.helplines import HELPLINES, helplines, read_yaml
from prolocutor.plugins.language.careful.topics import Lately, annotated_topic, read_care

SKILL: Final = "careful"
"""The name by which `choose` knows the skill."""

CONFIDENCE: Final = 1.0
ANSWERS: Final = Path(__file__).with_name("answers.yaml")
AFTERWARDS: Final = 0.75
"""Confidence in the turns after a careful answer: less than that of an agent that knows."""

_ENGLISH: Final = "en"
_NO_TOPICS: Final = ("then", "doctor", "vet", "where")
_NUMBERS: Final = {"self_harm": "crisis", "abuse": "abuse"}
"""Whose number goes with a topic in the turns after; with the others a doctor or a vet does."""


class CarefulAnswers(msgspec.Struct, frozen=True):
    """The texts and the numbers of a pair of files; its methods are targets of services."""

    texts: dict[str, dict[str, str]]
    numbers: Path = HELPLINES

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the careful answer to the topic that an annotation names; [] without a topic.

        In the three turns after it, return the fallback if no agent is sure of an answer, so that
        a person who has just asked for help gets no joke or advertisement.
        """
        text = self.find_answer(request)
        if text is not None:
            return [{"text": text, "confidence": CONFIDENCE}]
        after = self._find_later_answer(request)
        return [] if after is None else [{"text": after, "confidence": AFTERWARDS}]

    def choose(self, request: dict[str, Any]) -> list[str] | None:
        """Ask the careful skill alone if there is a topic; else all skills."""
        return None if self._topic(request) is None else [SKILL]

    def keep(self, request: dict[str, Any]) -> str:
        """Return the reply, or the careful answer where another skill answered.

        A skill that waits for an answer gets any text without a selector.
        """
        said: str = request["bot_utterances"][-1]["text"]
        return self.find_answer(request) or said

    def find_answer(self, request: Mapping[str, Any]) -> str | None:
        """Return the careful answer in the person's language, else in English; None if no topic."""
        topic = self._topic(request)
        return None if topic is None else self._fill_text(request, topic, read_care(request))

    def _find_later_answer(self, request: Mapping[str, Any]) -> str | None:
        """Return the fallback in the turns after a careful answer; None if there was none."""
        care = read_care(request)
        if care is None or care.topic not in self.texts[_ENGLISH]:
            return None
        return self._fill_text(request, "then", care)

    def _fill_text(self, request: Mapping[str, Any], name: str, care: Lately | None) -> str:
        attributes = _attributes(request)
        code = self._language(request, attributes)
        texts, table = self.texts[code], helplines(self.numbers)
        elsewhere = table.international.get(code, table.international[_ENGLISH])
        country = care.country if care and care.country in table.countries else None
        country = country or table.person_country(attributes)
        numbers = (table.countries[country] if country else elsewhere).numbers(elsewhere)
        topic = care.topic if care else name
        helper = numbers.get(
            _NUMBERS.get(topic, ""), texts["vet" if topic == "animal" else "doctor"]
        )
        said = texts[name].format(**numbers, helper=helper).strip()
        return said if country or name == "then" else f"{said} {texts['where'].strip()}"

    def _topic(self, request: Mapping[str, Any]) -> str | None:
        names = [name for name in self.texts[_ENGLISH] if name not in _NO_TOPICS]
        return annotated_topic(request, names)

    def _language(self, request: Mapping[str, Any], attributes: Mapping[str, Any]) -> str:
        utterances = request.get("human_utterances") or [{}]
        noticed = (utterances[-1].get("annotations") or {}).get("language")
        code = noticed.get("code") if isinstance(noticed, dict) else None
        for said in (attributes.get("language"), code):
            if isinstance(said, str) and (short := said[:2].lower()) in self.texts:
                return short
        return _ENGLISH


@functools.cache
def answers_from(texts: Path = ANSWERS, numbers: Path = HELPLINES) -> CarefulAnswers:
    """Return the answers of a file of texts and a file of numbers.

    Raise the errors of YAML or msgspec for a bad file, KeyError without English texts.
    """
    given = read_yaml(texts)
    read = msgspec.convert(given, dict[str, dict[str, str]])
    if _ENGLISH not in read:
        raise KeyError(f"{texts}: there are no texts under {_ENGLISH!r}")
    return CarefulAnswers(read, numbers)


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Skill: see `CarefulAnswers.answer`."""
    return answers_from().answer(request)


def choose(request: dict[str, Any]) -> list[str] | None:
    """Skill selector: see `CarefulAnswers.choose`."""
    return answers_from().choose(request)


def keep(request: dict[str, Any]) -> str:
    """Postprocessor: see `CarefulAnswers.keep`."""
    return answers_from().keep(request)


def _attributes(request: Mapping[str, Any]) -> Mapping[str, Any]:
    human = request.get("human")
    attributes = human.get("attributes") if isinstance(human, dict) else None
    return attributes if isinstance(attributes, dict) else {}


# Loaded with the skill, which must never wait.
answers_from()
