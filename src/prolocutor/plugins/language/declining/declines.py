"""Declines: the request without an answer, in the person's words, and the nearest agents."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import msgspec
import yaml

from prolocutor.contracts.connector import AgentProfile
from prolocutor.reading.plain_text import strip_accents

CONFIDENCE: Final = 0.2
"""More than agents have when they decline, less than they have for any answer."""

NEAREST: Final = 2
"""Agents that a decline names."""

LONGEST_QUOTE: Final = 80

_TEXTS: Final = Path(__file__).with_name("declines.yaml")
_ENGLISH: Final = "en"
_ADDRESS: Final = re.compile(r"\bhttps?://\S*")
"""An address, such as that of a picture that a person sent: no words to quote."""
_WORD: Final = re.compile(r"[^\W_]+")
_STEM: Final = 5
_ADDRESSED: Final = {
    "i am": "you are",
    "i'm": "you're",
    "i was": "you were",
    "i": "you",
    "me": "you",
    "myself": "yourself",
    "my": "your",
    "mine": "yours",
    "us": "you",
    "our": "your",
}
"""The words of a person who speaks, as they are said to the person."""
_SPEAKER: Final = re.compile(rf"\b(?:{'|'.join(_ADDRESSED)})\b", re.IGNORECASE)


class _Wording(msgspec.Struct, frozen=True):
    decline: str
    wordless: str
    nearest: str
    able: str
    joint: str = msgspec.field(name="or")
    request: str = ""
    asks: str = r"(?!)"


class Declines:
    """A skill that declines any utterance, and names the agents of a pipeline that are nearest.

    An agent is named if its card has a description and is not `hidden`. Its nearness is the number
    of words that its card shares with the utterance, rare words counting more.
    """

    def __init__(self, skills: Sequence[AgentProfile] = (), texts: Path = _TEXTS) -> None:
        given = yaml.safe_load(texts.read_text(encoding="utf-8"))
        self._texts = msgspec.convert(given, dict[str, _Wording])
        self._asks = {
            code: re.compile(one.asks, re.IGNORECASE) for code, one in self._texts.items()
        }
        self._path = texts
        cards = [one.card for one in skills if one.card.get("description")]
        self._cards = [card for card in cards if not card.get("hidden")]
        self._stems = [set(_stems(_card_texts(card))) for card in self._cards]
        self._known_by = Counter(stem for stems in self._stems for stem in stems)

    def with_skills(self, skills: Sequence[AgentProfile]) -> Declines:
        """Return the skill that names agents of these."""
        return Declines(skills, self._path)

    def __call__(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a hypothesis, in the language of the annotation `language`, else in English."""
        last = request["human_utterances"][-1]
        said = last.get("orig_text") or last.get("text")
        code = _language(last)
        code = code if code in self._texts else _ENGLISH
        said = _ADDRESS.sub("", said) if isinstance(said, str) else ""
        words = " ".join(said.split()).strip(" .!?¿¡,;:")
        text = " ".join(filter(None, (self._decline_text(code, words), self._advice(code, words))))
        return [{"text": text, "confidence": CONFIDENCE, "attributes": {"no_answer": True}}]

    def _decline_text(self, code: str, words: str) -> str:
        texts = self._texts[code]
        if not _WORD.search(words) or len(words) > LONGEST_QUOTE:
            return texts.wordless
        if asked := self._asks[code].fullmatch(words):
            said = asked["request"].replace("’", "'")
            request = _SPEAKER.sub(lambda found: _ADDRESSED[found[0].lower()], said)
            return texts.request.format(request=request[:1].lower() + request[1:])
        return texts.decline.format(words=words)

    def _advice(self, code: str, words: str) -> str:
        texts = self._texts[code]
        near = self._nearest(words)
        able = [said for card in near if (said := (card.get("translations") or {}).get(code))]
        if near and len(able) == len(near):
            return texts.able.format(agents=f" {texts.joint} ".join(able))
        described = [str(card["description"]).strip().rstrip(".") for card in near]
        return texts.nearest.format(agents="; ".join(described)) if near else ""

    def _nearest(self, words: str) -> list[Mapping[str, Any]]:
        asked = set(_stems([words]))
        scores = [
            sum(math.log(1 + len(self._cards) / self._known_by[stem]) for stem in asked & stems)
            for stems in self._stems
        ]
        # Of those with nothing in common, not always the same are named.
        first = crc32(words.encode()) % max(1, len(scores))
        places = [*range(first, len(scores)), *range(first)]
        best = sorted(places, key=lambda place: -scores[place])[:NEAREST]
        return [self._cards[place] for place in best]


answer: Final = Declines()
"""The skill, as `prolocutor.plugins.language.declining:answer`."""


def _card_texts(card: Mapping[str, Any]) -> list[str]:
    translations = card.get("translations") or {}
    return [card["description"], *(card.get("examples") or ()), *translations.values()]


def _stems(texts: Iterable[str]) -> list[str]:
    """Return the starts of the words, in lower case without accents."""
    said = strip_accents(" ".join(texts)).lower()
    return [word[:_STEM] for word in _WORD.findall(said) if len(word) > 1]


def _language(utterance: Mapping[str, Any]) -> str:
    noted = (utterance.get("annotations") or {}).get("language")
    code = noted.get("code") if isinstance(noted, dict) else None
    return code if isinstance(code, str) else _ENGLISH
