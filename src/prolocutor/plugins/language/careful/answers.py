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
import yaml

from prolocutor.plugins.language.careful.helplines import HELPLINES, helplines
from prolocutor.plugins.language.careful.topics import annotated_topic

SKILL: Final = "careful"
"""The name by which `choose` knows the skill."""

CONFIDENCE: Final = 1.0
ANSWERS: Final = Path(__file__).with_name("answers.yaml")
_ENGLISH: Final = "en"


class CarefulAnswers(msgspec.Struct, frozen=True):
    """The texts and the numbers of a pair of files; its methods are targets of services."""

    texts: dict[str, dict[str, str]]
    numbers: Path = HELPLINES

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the careful answer to the topic that an annotation names; [] without one."""
        text = self.text_for(request)
        return [] if text is None else [{"text": text, "confidence": CONFIDENCE}]

    def choose(self, request: dict[str, Any]) -> list[str] | None:
        """Ask the careful skill alone if there is a topic; else all skills."""
        return None if self._topic(request) is None else [SKILL]

    def keep(self, request: dict[str, Any]) -> str:
        """Return the reply, or the careful answer where another skill answered.

        A skill that waits for an answer gets any text without a selector.
        """
        said: str = request["bot_utterances"][-1]["text"]
        return self.text_for(request) or said

    def text_for(self, request: Mapping[str, Any]) -> str | None:
        """Return the careful answer in the person's language, else in English; None if no topic."""
        topic = self._topic(request)
        if topic is None:
            return None
        attributes = _attributes(request)
        code = self._language(request, attributes)
        texts = self.texts[code]
        table = helplines(self.numbers)
        country = table.country_of(attributes)
        elsewhere = table.international.get(code, table.international[_ENGLISH])
        lines = table.countries[country] if country else elsewhere
        said = texts[topic].format(**lines.numbers()).strip()
        return said if country else f"{said} {texts['where'].strip()}"

    def _topic(self, request: Mapping[str, Any]) -> str | None:
        names = [name for name in self.texts[_ENGLISH] if name != "where"]
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

    Raise what YAML or msgspec raise for a bad file, KeyError if it has no English texts.
    """
    given = yaml.safe_load(texts.read_text(encoding="utf-8"))
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
