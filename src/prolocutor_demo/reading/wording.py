"""Normalizes wording, splits utterances into parts, and builds hypotheses."""

import re
from collections.abc import Callable
from typing import Any

SURE = 0.97
LIKELY = 0.85
LOOSE = 0.7
DECLINED = 0.05
# The reading of a part of an utterance is less certain than that of the whole.
OF_A_PART = 0.85

Reading = tuple[str, float]
AnswerFunction = Callable[..., str | None]
QuestionPattern = tuple[re.Pattern[str], AnswerFunction]

_SAME = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2212\u00a0", "''\"\"-- ")
_SPELLINGS = {
    r"wh?at'?s|waht'?s|wats": "what is",
    r"waht|wat|whta|wht": "what",
    r"how's": "how is",
    r"when's": "when is",
    r"it's": "it is",
    r"(?:i'm|im)": "i am",
    r"i'd": "i would",
    r"mnay|meny": "many",
    r"ppl|peopel|poeple": "people",
    r"mutch|mush": "much",
    r"(?:tommorr?ow|tomorow|tmrw)": "tomorrow",
    r"(?:con?vr?e?r?t|convertt|covnert)": "convert",
    r"(?:ca?lcualte|claculate|calcuate)": "calculate",
    r"(?:percetn|precent|persent|per cent|pct)": "percent",
    r"(?:pls|plz|plese|pleas)": "please",
    r"untill?|til|till": "until",
    r"u": "you",
    r"rn": "right now",
}
_SPELLING = [(re.compile(rf"(?<![\w'])(?:{old})(?![\w'])"), new) for old, new in _SPELLINGS.items()]
_POLITE_START = re.compile(
    r"(?:(?:(?:hey|hi|hello)(?: there)?|ok|okay|well|so|and|please|sorry|excuse me|"
    r"quick question|quick maths?)"
    r"[\s,:!.]+|(?:can|could|would|will) you (?:please |kindly |quickly |maybe )*"
    r"(?:(?:tell|show|give) (?:me|us) |(?=\w))|(?:do|did) you (?:happen to )?know |"
    r"(?:please )?(?:tell|show) (?:me |us |(?=(?:what|how|when|which|who|where) ))|"
    r"(?:i would|i) (?:like|want|need) to know |(?:i )?(?:want|need) (?=the )|"
    r"(?:i wonder|i was wondering) |work out |figure out |please )"
)
_POLITE_END = re.compile(
    r"(?<=.)(?:[\s,]*+\b(?:please|thanks|thank you|for me|for us|then|though)"
    r"|[?.=\s,]++|(?<![\d)])!)$"
)
_ENDING = 40
"""Characters at the end that are looked at for a courtesy."""

_NEXT_PART = re.compile(
    r"(?<=[?!;])\s+|(?<=[a-z]\.)\s+|[,;]?\s+(?:and|then|also|plus)\s+(?:also\s+|then\s+)?"
    r"(?=(?:what|how|when|which|who|is it|is|convert|calculate|tell|give|show|the time|time)\b)"
)


def plain(text: str) -> str:
    """Return the words in lower case, misspellings corrected, without greetings and courtesies."""
    words = " ".join(text.translate(_SAME).lower().split())
    for pattern, right in _SPELLING:
        words = pattern.sub(right, words)
    while (start := _POLITE_START.match(words)) and start.end() < len(words):
        words = words[start.end() :].lstrip(" ,")
    while end := _POLITE_END.search(words, max(0, len(words) - _ENDING)):
        words = words[: end.start()]
    return words


def parts_of(text: str) -> list[str]:
    """Return the questions and commands in the text separately, at most eight."""
    parts = [part for part in _NEXT_PART.split(text.translate(_SAME)) if part and part.strip()]
    return parts[:8]


def read_whole_or_parts(text: str, read: Callable[[str], Reading | None]) -> Reading | None:
    """Return the reading of the whole text, else of those parts that `read` understands."""
    if whole := read(plain(text)):
        return whole
    parts = parts_of(text)
    if len(parts) < 2:
        return None
    readings = [reading for part in parts if (reading := read(plain(part)))]
    if not readings or min(sure for _, sure in readings) < LOOSE:
        return None
    said = ". ".join(dict.fromkeys(words.rstrip(".") for words, _ in readings)) + "."
    return said, min(sure for _, sure in readings) * OF_A_PART


def reply(reading: Reading | None, declining: str) -> list[dict[str, Any]]:
    """Return an agent's one hypothesis: its reading, or its text for declining."""
    text, confidence = reading or (declining, DECLINED)
    return [{"text": text, "confidence": round(confidence, 3)}]


def question(tell: AnswerFunction, *pieces: str) -> QuestionPattern:
    """Return the pattern of a whole utterance, joined from its pieces, with its answer function."""
    return re.compile("".join(pieces)), tell
