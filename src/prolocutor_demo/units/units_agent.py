"""The unit converter: an agent that converts a quantity or compares two."""

import difflib
import re
from fractions import Fraction
from typing import Any, Final, NamedTuple

from prolocutor_demo.reading.number_words import number_text, with_digits, with_fractions
from prolocutor_demo.reading.request import text_of
from prolocutor_demo.reading.unit_table import UNITS, Unit
from prolocutor_demo.reading.wording import (
    LIKELY,
    LOOSE,
    SURE,
    Reading,
    read_whole_or_parts,
    reply,
)

DECLINING = "I convert units, such as miles to kilometers, and nothing else."
MOST_STRAY_WORDS = 3
LONGEST_SPELLING = 5

_TOKEN = re.compile(r"\d+(?:\.\d+)?(?:/[1-9]\d*)?|[a-zµ°]+[23²³]?(?:/[a-z]+)?|['\"=<-]|->")
_FILLER = set(
    "convert change turn transform what is are was how many much tall long far heavy hot cold "
    "fast big high deep wide warm large in to into as of the there a an does do make makes "
    "made up equal equals = -> - for be from that this it i need want like have give express "
    "value equivalent number you would get me can could temperature weight length distance "
    "speed please and or will when then come comes by so your unit units measured using one "
    "single full standard at than".split()
)
_VETO = set(
    "until since ago left remind reminder timer alarm wake born old age birthday time today "
    "tomorrow yesterday date dollar dollars euro euros usd eur gbp yen price cost list todo task "
    "ahead behind between christmas person people population capital joke define meaning word "
    "synonym holiday currency rate now next last".split()
)
_GREATER = set(
    "longer heavier bigger more larger hotter warmer faster taller farther further".split()
)
_GREATER |= set("higher greater older".split())
_SMALLER = set("shorter lighter smaller less colder cooler slower lower lesser".split())
_NOT_ABOUT_ONE = {"this", "of", "it"}
_BEFORE_LETTER = {"to", "in", "into", "->", "=", "many"}
_ONLY_AFTER_NUMBER = {"'", '"', "in", "ins", "st", "as", "t", "pt", "h", "s"}


class UnitToken(NamedTuple):
    """One piece of the utterance: a number, a unit, or another word."""

    word: str
    number: Fraction | None = None
    unit: Unit | None = None


class Quantity(NamedTuple):
    """A number of units, as text ("5 feet 11 inches") and in the kind's base unit."""

    said: str
    unit: Unit
    value: Fraction


class ConversionQuestion(NamedTuple):
    """The quantities, the units without a number, and the words that are neither."""

    quantities: list[Quantity]
    targets: list[Unit]
    stray: list[str]
    guessed: bool


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the quantity in the other unit; decline all else."""
    return reply(read_whole_or_parts(text_of(request), _read), DECLINING)


def _read(words: str) -> Reading | None:
    if "%" in words or "percent" in words or _WHICH_DAY.search(words):
        return None
    words = re.sub(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d,])", r"\1.\2", words)
    words = with_fractions(with_digits(words.replace("light-year", "light year")))
    words = re.sub(r"\b(?:minus|negative) (?=\d)", "-", words)
    words = re.sub(r"(?<=\d) stone (\d+)(?= (?:in|to|into|as)\b|$)", r" stone \1 pounds", words)
    items, guessed = _items(words)
    question = _question(items, guessed)
    if question is None or _VETO.intersection(item.word for item in items):
        return None
    said = _compared(question, items) or _converted(question, words.split())
    if said is None or len(question.stray) > MOST_STRAY_WORDS:
        return None
    if question.stray:
        return said, LOOSE if question.quantities else 0.0
    return said, LIKELY if guessed else SURE


_WHICH_DAY: Final = re.compile(r"\b(?:what|which) (?:week)?day\b")
MOST_MENDED: Final = 60
"""Words of a text in which misspelled units are looked for."""


def _items(words: str) -> tuple[list[UnitToken], bool]:
    tokens = [(found[0], found.start()) for found in _TOKEN.finditer(words)]
    spelled = [token for token, _ in tokens]
    items: list[UnitToken] = []
    guessed = False
    at = 0
    while at < len(tokens):
        token, start = tokens[at]
        if token[0].isdigit():
            negative = items and items[-1].word == "-" and words[start - 1] == "-"
            if negative:
                items.pop()
            items.append(UnitToken(token, -Fraction(token) if negative else Fraction(token)))
            at += 1
            continue
        length, unit = _unit_at(spelled, at, items)
        may_mend = len(tokens) <= MOST_MENDED and 5 <= len(token) <= 20
        if unit is None and may_mend and token not in _FILLER | _VETO:
            close = difflib.get_close_matches(token, _LONG_SPELLINGS, n=1, cutoff=0.84)
            unit, length = (UNITS[close[0]], 1) if close else (None, 1)
            guessed = guessed or unit is not None
        items.append(UnitToken(token, unit=unit))
        at += length
    return items, guessed


def _unit_at(tokens: list[str], at: int, before: list[UnitToken]) -> tuple[int, Unit | None]:
    """Return the number of tokens of the unit at `at`, and the unit; (1, None) if none."""
    after_number = bool(before) and before[-1].number is not None
    for length in range(min(LONGEST_SPELLING, len(tokens) - at), 0, -1):
        spelling = " ".join(tokens[at : at + length])
        unit = UNITS.get(spelling)
        if unit is None:
            continue
        if spelling in ("in", "ins"):
            following = tokens[at + 1] if at + 1 < len(tokens) else ""
            is_target = bool(before) and before[-1].word in ("to", "in", "into") and not following
            if not is_target and not (after_number and following in ("", "to", "in", "into", "=")):
                continue
        elif len(spelling) == 1 or spelling in _ONLY_AFTER_NUMBER:
            is_target = bool(before) and before[-1].word in _BEFORE_LETTER
            if not after_number and not is_target:
                continue
        return length, unit
    return 1, None


def _question(items: list[UnitToken], guessed: bool) -> ConversionQuestion | None:
    quantities: list[Quantity] = []
    targets: list[Unit] = []
    stray: list[str] = []
    joins = False
    at = 0
    while at < len(items):
        item, (length, quantity) = items[at], _quantity_at(items, at)
        if quantity is None and joins and item.number is not None:
            # "5 foot 4": the four are inches.
            quantity = _quantity(item.number, UNITS["inch"]) if _is_foot(quantities) else None
        if quantity and joins and _is_part(quantities[-1], quantity):
            quantities[-1] = _joined(quantities[-1], quantity)
        elif quantity:
            quantities.append(quantity)
        elif item.unit:
            targets.append(item.unit)
        elif item.number is not None:
            return None
        elif item.word not in _FILLER | _GREATER | _SMALLER:
            stray.append(item.word)
        joins = quantity is not None or (joins and item.word in ("and", "-"))
        at += length
    return (
        ConversionQuestion(quantities, targets, stray, guessed) if quantities or targets else None
    )


def _quantity_at(items: list[UnitToken], at: int) -> tuple[int, Quantity | None]:
    """Return the length of the quantity at `at` ("5 km", "half a mile", "a cup"), and it."""
    item, *following = items[at : at + 3]
    number = item.number
    if number is None and item.word in ("a", "an", "per"):
        number = Fraction(1)
    if number is None or not following:
        return 1, None
    if following[0].unit:
        return 2, _quantity(number, following[0].unit)
    if item.number is not None and following[0].word in ("a", "an", "of") and len(following) == 2:
        unit = following[1].unit
        return (3, _quantity(number, unit)) if unit else (1, None)
    return 1, None


def _is_foot(quantities: list[Quantity]) -> bool:
    return bool(quantities) and quantities[-1].unit.one == "foot"


def _is_part(whole: Quantity, part: Quantity) -> bool:
    same = whole.unit.kind == part.unit.kind and whole.unit.kind != "temperature"
    whole_only = whole.unit.one == "marathon"  # "a marathon, 26.2 miles": the same twice
    return same and part.unit.factor < whole.unit.factor and part.value >= 0 and not whole_only


def _joined(whole: Quantity, part: Quantity) -> Quantity:
    return Quantity(f"{whole.said} {part.said}", whole.unit, whole.value + part.value)


def _quantity(number: Fraction, unit: Unit) -> Quantity:
    text = number_text(number)
    return Quantity(f"{text} {unit.named(text)}", unit, number * unit.factor + unit.offset)


def _converted(question: ConversionQuestion, words: list[str]) -> str | None:
    quantities, targets = list(question.quantities), list(question.targets)
    if len(quantities) == 2 and quantities[0].unit.one == "marathon":
        del quantities[0]  # "a marathon is 42.195 km, what is that in miles"
    if len(quantities) == 1 and not targets and _SIZE.match(" ".join(words)):
        # "How much is a stone": the other system's unit is wanted.
        other = _OTHER_SYSTEM.get(quantities[0].unit.one)
        targets = [UNITS[other]] if other else []
    if not quantities and len(targets) == 2 and not _NOT_ABOUT_ONE.intersection(words):
        # "yards to meters" asks about one yard, "how many inches to the foot" about one foot.
        quantities = [_quantity(Fraction(1), targets.pop("many" in words))]
    if len(quantities) != 1 or len(targets) not in (1, 2):
        return None
    quantity = _as_volume(quantities[0], targets[0])
    if any(target.kind != quantity.unit.kind for target in targets) or quantity.unit in targets:
        return None
    if len(targets) == 2 and targets[0] != targets[1]:
        return f"{quantity.said} = {_in_two(quantity, *targets)}"
    return f"{quantity.said} = {_in(quantity, targets[0])}"


def _as_volume(quantity: Quantity, target: Unit) -> Quantity:
    """Return the quantity, with ounces as fluid ounces if the target is a volume."""
    if quantity.unit.one != "ounce" or target.kind != "volume":
        return quantity
    return _quantity(quantity.value / quantity.unit.factor, UNITS["fluid ounce"])


def _in(quantity: Quantity, unit: Unit) -> str:
    text = number_text((quantity.value - unit.offset) / unit.factor)
    return f"{text} {unit.named(text)}"


def _in_two(quantity: Quantity, first: Unit, second: Unit) -> str:
    large, small = sorted((first, second), key=lambda unit: -unit.factor)
    if (large.factor / small.factor).denominator != 1:
        return f"{_in(quantity, first)} = {_in(quantity, second)}"
    whole = quantity.value // large.factor
    rest = Quantity("", small, quantity.value - whole * large.factor)
    return f"{number_text(whole)} {large.named(number_text(whole))} {_in(rest, small)}"


def _compared(question: ConversionQuestion, items: list[UnitToken]) -> str | None:
    words = {item.word for item in items}
    greater, smaller = words & _GREATER, words & _SMALLER
    if len(question.quantities) != 2 or question.targets or len(greater) + len(smaller) != 1:
        return None
    first, second = question.quantities
    if first.unit.kind != second.unit.kind:
        return None
    word = next(iter(greater | smaller))
    detail = f"{second.said} is {_in(second, first.unit)}"
    if first.value == second.value:
        return f"They are the same: {detail}."
    first_is_it = (first.value > second.value) == bool(greater)
    if words & {"which", "what", "whats"}:
        return f"{(first if first_is_it else second).said} is {word}: {detail}."
    return f"{'Yes' if first_is_it else 'No'}: {detail}."


_SIZE = re.compile(
    r"how (?:much|big|long|heavy|far|tall|large|many \w+) (?:is|are|does|weighs?)"
    r" (?:an?|one|1) [a-z ]+(?: weigh)?$"
)
_OTHER_SYSTEM = {
    "stone": "kilogram",
    "pound": "kilogram",
    "ounce": "gram",
    "acre": "square meter",
    "hectare": "acre",
    "mile": "kilometer",
    "kilometer": "mile",
    "foot": "centimeter",
    "inch": "centimeter",
    "yard": "meter",
    "meter": "foot",
    "gallon": "liter",
    "pint": "milliliter",
    "liter": "pint",
    "kilogram": "pound",
    "nautical mile": "kilometer",
    "furlong": "meter",
    "fathom": "meter",
    "light year": "kilometer",
    "marathon": "kilometer",
    "cup": "milliliter",
    "tablespoon": "milliliter",
    "teaspoon": "milliliter",
}
_LONG_SPELLINGS = [spelling for spelling in UNITS if len(spelling) >= 5 and " " not in spelling]
