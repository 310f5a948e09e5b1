"""Draws random numbers: whole ones, several different ones, decimals, digits, pins."""

import random
import re

from prolocutor_demo.reading.when.lengths import NUMBER, number_of

LARGEST = 10**15
MOST = 100

_WORD = (
    rf"(?:minus )?(?:(?:{NUMBER} |a )?(?:thousand|million|hundred)"
    rf"|-?\d{{1,40}}(?:\.\d{{1,6}})?|{NUMBER})"
)
_RANGE = re.compile(
    rf"(?:\b(?:between|from|in|of|in the range)\s+)?(?<![\w.])(?P<low>{_WORD})"
    rf"\s*(?:\.\.\.?|to\b|and\b|-|–|through\b|until\b|up to\b)\s*(?P<high>{_WORD})(?!\w)",
    re.IGNORECASE,
)
_BELOW = re.compile(
    rf"\b(?P<word>under|below|less than|smaller than|up to|out of|max(?:imum)?|at most)\s+"
    rf"(?P<high>{_WORD})(?!\w)",
    re.IGNORECASE,
)
_COUNT = re.compile(
    rf"\b(?P<count>{NUMBER})\s+(?:different |unique |distinct |random |lottery |lotto |whole )*"
    r"(?:numbers|integers|decimals|tickets)\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(rf"\b(?P<count>{NUMBER})[- ](?:random )?digits?\b", re.IGNORECASE)
_NOUN = r"(?:numbers?|nubmer|numer|integers?|digits?|decimals?|floats?|pin(?: code)?)"
_VERB = r"(?:pick|choose|give me|draw|generate|think of|guess|tell me|say|select|roll|make|get)"
_ASKS = re.compile(
    rf"(?:.*\brandom\b.*\b{_NOUN}\b.*|{_VERB}\b.*\b{_NOUN}\b.*|any {_NOUN}\b.*"
    rf"|.*\b(?:raffle|lottery|lotto)\b.*\b(?:{_NOUN}|tickets?|draw|winner)\b.*|.*\b{_NOUN}\b.*\brandom(?:ly)?\b.*"
    rf"|(?:i need |i want )?(?:a )?{_NOUN}(?: please)? (?:between|from) .+"
    rf"|surprise me with (?:a )?{_NOUN}|(?:my |a )?lucky {_NOUN}"
    r"|(?:rand(?:int|om)?|random(?:ize)?)[ (]-?\d.*)",
    re.IGNORECASE,
)
_ALIEN = re.compile(
    r"\b(?:phone|largest|smallest|prime|population|divide|times|sum|numbers? of)\b", re.IGNORECASE
)


def draw_number(text: str, chance: random.Random) -> str | None:
    """Return the random numbers that the text asks for; None if it asks for none."""
    if not _ASKS.fullmatch(text) or _ALIEN.search(text):
        return None
    if (digits := _DIGITS.search(text)) or re.search(r"\bpin\b", text, re.IGNORECASE):
        count = int(number_of(digits["count"])) if digits else 4
        return "".join(str(chance.randrange(10)) for _ in range(min(max(count, 1), MOST))) + "."
    if re.search(r"\bdigit\b", text, re.IGNORECASE):
        return f"{chance.randrange(10)}."
    low, high = _bounds(text)
    if re.search(r"\b(?:decimals?|floats?|real)\b", text, re.IGNORECASE):
        return f"{chance.uniform(low, high):.4f}."
    return _whole(text, round(low), round(high), chance)


def _whole(text: str, low: int, high: int, chance: random.Random) -> str:
    if max(abs(low), abs(high)) > LARGEST:
        return "That is too large for me; I draw numbers up to 10 to the power of 15."
    numbers = range(low, high + 1)
    for word, rest in (("even", 0), ("odd", 1)):
        if re.search(rf"\b{word}\b", text, re.IGNORECASE):
            numbers = range(low + (low % 2 != rest), high + 1, 2)
    if not numbers:
        return "There is no such number."
    count = _count(text)
    if count <= 1:
        return f"{numbers[chance.randrange(len(numbers))]}."
    different = re.search(r"\b(?:different|unique|distinct|lott(?:o|ery))\b", text, re.IGNORECASE)
    if different and count > len(numbers):
        return f"There are only {len(numbers)} different ones."
    if different:
        drawn = sorted(chance.sample(numbers, count))
    else:
        drawn = [numbers[chance.randrange(len(numbers))] for _ in range(count)]
    return f"{', '.join(map(str, drawn))}."


def _count(text: str) -> int:
    found = _COUNT.search(text)
    return min(int(number_of(found["count"])), MOST) if found else 1


def _bounds(text: str) -> tuple[float, float]:
    text = _COUNT.sub("numbers", text)
    if found := _RANGE.search(text):
        low, high = _value(found["low"]), _value(found["high"])
        return min(low, high), max(low, high)
    if found := _BELOW.search(text):
        high = _value(found["high"])
        strict = found["word"].lower() in {"under", "below", "less than", "smaller than"}
        return min(1.0, high - strict), high - strict
    decimal = re.search(r"\b(?:decimals?|floats?|real)\b", text, re.IGNORECASE)
    return (0.0, 1.0) if decimal else (1.0, 100.0)


def _value(words: str) -> float:
    words = words.lower().strip()
    if words.startswith("minus "):
        return -_value(words.removeprefix("minus "))
    if re.fullmatch(r"-?\d+(?:\.\d+)?", words):
        return float(words)
    first, _, scale = words.rpartition(" ")
    scales = {"hundred": 1e2, "thousand": 1e3, "million": 1e6}
    if scale in scales:
        return (number_of(first) if first else 1.0) * scales[scale]
    return number_of(words)
