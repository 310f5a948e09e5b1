"""Reads numbers: digits, grouped in any way, and words ("minus three point five", "a dozen")."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, Final

from prolocutor.reading import libraries

_MAX_WHOLE_NUMBER: Final = 2**53
"""The number up to which a float holds every integer."""

_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)?|[.,]\d+")
_GROUPED: Final = re.compile(r"\d{1,3}(?P<by>[, '_])(?:\d{2,3}(?P=by))*\d{3}(?:\.\d+)?")
_CONTINENTAL: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_EXPONENT: Final = re.compile(r"\d+(?:\.\d+)?e[+-]?\d{1,3}")
_FRACTION: Final = re.compile(r"(?:(?P<whole>\d+)[ -])?(?P<upper>\d+) ?/ ?(?P<lower>\d+)")
_SIGNED: Final = re.compile(r"(?P<sign>[+-]|(?:plus|minus|negative)\b)? ?(?P<rest>.+)")
_SCALED: Final = re.compile(
    r"(?P<count>.+?) ?(?P<scale>k|thousand|million|billion|trillion|dozens?|bn|score)"
)
_OTHER_LANGUAGES: Final = ("de", "fr", "es")
_MINUS: Final = re.compile(r"(?:minus|moins|menos) (.+)")
_DOTTED: Final = re.compile(r"\d{1,3}(?:\.\d{3})+")
_SCALES: Final = {"k": 10**3, "thousand": 10**3, "million": 10**6, "billion": 10**9, "bn": 10**9}
_SCALES.update({"trillion": 10**12, "dozen": 12, "dozens": 12, "score": 20})
_PARTS: Final = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_AND_A_PART: Final = re.compile(
    r"(?:(?P<count>.+?) and )?(?:(?P<times>an?|one|two|three|[1-9]) )?"
    r"(?P<part>half|third|quarter|fifth|tenth)s?"
)
_YEAR: Final = re.compile(r"^(1\d|20) (\d\d)$")
_COMMA: Final = re.compile(r"\b(hundred|thousand|(?:m|b|tr)illion),")
_ONE: Final = re.compile(r"^a (?=hundred|thousand|(?:m|b|tr)illion)")
_TIMES: Final = {"two": 2, "three": 3}
_COUNTED: Final = re.compile(r"(?P<number>.+?) (?:of (?:them|us|those|these)|(?P<noun>[^\W\d_]+))")
_AROUND: Final = re.compile(
    r"^(?:(?:(?:about|around|approximately|roughly|exactly|just|only|number|the number|nearly"
    r"|almost|of|there (?:are|were|will be)|we are|i have|i need|i want|i'd like|some)\b|#"
    r"|[€$£¥]) ?)+"
)
_NO_COUNT: Final = frozenset(
    "moment moments sec secs second am pm o'clock oclock times star and or plus minus point more"
    " less january february march april may june july august september october november december"
    " st nd rd th".split()
)
_LITTLE: Final = {"a couple": 2, "a pair": 2, "a few": None, "zero": 0, "nil": 0}
_LITTLE.update({"nought": 0, "none": 0, "zilch": 0, "both": 2, "a single": 1, "nothing": 0})

_TABLE: Final = """ms: millisecond milliseconds msec; s: sec secs second seconds;
    min: mins minute minutes; h: hr hrs hour hours; day: days; week: weeks; mon: month months;
    year: years yr yrs; mm: millimeter millimeters millimetre millimetres;
    cm: centimeter centimeters centimetre centimetres; m: meter meters metre metres;
    km: kilometer kilometers kilometre kilometres kms; in: inch inches; ft: foot feet;
    mi: mile miles; mps: m/s; kmph: km/h kph; mph: mi/h;
    mg: milligram milligrams; g: gram grams gramme grammes; kg: kilo kilos kilogram kilograms kgs;
    oz: ounce ounces; lb: lbs pound pounds; ml: milliliter milliliters millilitre millilitres;
    l: liter liters litre litres; gal: gallon gallons; C: c °c celsius centigrade degrees;
    F: f °f fahrenheit; K: k kelvin; Pa: pa pascal pascals; bar: bars; m2: m²; km2: km²; m3: m³;
    kcal: kilocalorie kilocalories cal calorie calories; kJ: kj kilojoule kilojoules;
    byte: bytes b; KB: kb kilobyte kilobytes; MB: mb megabyte megabytes;
    GB: gb gigabyte gigabytes; TB: tb terabyte terabytes;
    W: w watt watts; kW: kw kilowatt kilowatts;
    dB: db decibel decibels;
    usd: $ dollar dollars bucks us$; eur: € euro euros; gbp: £ quid; jpy: ¥ yen;
    chf: franc francs"""
_UNITS: Final[dict[str, str]] = {}

_TRAILING: Final = re.compile(
    r"(?P<count>.*?[^a-z°²³/$€£¥ ]|.+(?= )) ?(?P<unit>[a-z°²³$€£¥/ ]+[23]?)"
)
_LEADING: Final = re.compile(r"(?P<unit>us\$|[$€£¥]) ?(?P<count>.+)")
_ARTICLE: Final = {"a": 1, "an": 1, "half a": 0.5, "half an": 0.5}


def read_number(said: str) -> int | float | None:
    """Return the number in a plain text: alone, rounded ("about five"), or a number of things."""
    said = _AROUND.sub("", said)
    value = read_value(said) if said else None
    return _read_count(said) if value is None else value


def read_value(said: str) -> int | float | None:
    """Return the number of a plain text read as a whole; None if it is not a number."""
    match = _SIGNED.fullmatch(said)
    if match is None:
        return None
    amount = _amount(match["rest"].rstrip("%").removesuffix(" percent").strip())
    if amount is None:
        return None
    return exact(-amount if match["sign"] in {"-", "minus", "negative"} else amount)


def read_foreign_number(said: str, language: str | None) -> int | float | None:
    """Return the number of a plain text in German, French or Spanish; None if it is not a number.

    Without a language, or in English, the words of all three count; digits in thousands ("1.500")
    only in a given language.
    """
    known = (language or "").split("-")[0].lower()
    sign, rest = (-1, match[1]) if (match := _MINUS.fullmatch(said)) else (1, said)
    if known in {"de", "es"} and _DOTTED.fullmatch(rest):
        return sign * int(rest.replace(".", ""))
    if any(letter.isdigit() for letter in rest):
        return None
    for code in (known,) if known in _OTHER_LANGUAGES else _OTHER_LANGUAGES:
        amount = _read_written(libraries.write_digits(rest, code))
        if amount is not None:
            return exact(sign * amount)
    return None


def exact(value: object) -> int | float | None:
    """Return an exact whole number as an int, other finite numbers as floats; None for the rest."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if not math.isfinite(number):
        return None
    return int(value) if value == int(value) and abs(number) <= _MAX_WHOLE_NUMBER else number


def _amount(said: str, deep: int = 0) -> int | float | Fraction | None:
    if said in {"a", "an"}:
        return 1 if deep else None
    if said in _LITTLE:
        return _LITTLE[said]
    written = _read_written(said)
    if written is not None or deep > 2:
        return written
    if match := _AND_A_PART.fullmatch(said):
        if match["count"] and match["count"].rpartition(" ")[2] in _SCALES:
            return None
        count = _amount(match["count"], deep + 1) if match["count"] else 0
        times = match["times"] or "1"
        share = Fraction(int(times) if times.isdigit() else _TIMES.get(times, 1))
        return None if count is None else count + share / _PARTS[match["part"]]
    # Words as a whole go first: "six million seven thousand" is no 6,000,007 thousands.
    spoken = _read_spoken(said)
    if spoken is None and (match := _SCALED.fullmatch(said)):
        count = _amount(match["count"].removesuffix(" of a").removesuffix(" a"), deep + 1)
        return None if count is None else count * _SCALES[match["scale"]]
    return spoken


def _read_written(said: str) -> int | float | Fraction | None:
    """Read digits: 1,234.5 and 1.234,5, 10 000, 1e6, 3/4, 2 1/2."""
    if _EXPONENT.fullmatch(said):
        return float(said)
    if _GROUPED.fullmatch(said):
        return _decimal(re.sub(r"[, '_]", "", said))
    if _CONTINENTAL.fullmatch(said):
        return _decimal(said.replace(".", "").replace(",", "."))
    if _DIGITS.fullmatch(said):
        return _decimal(said.replace(",", "."))
    match = _FRACTION.fullmatch(said)
    if match and int(match["lower"]):
        return int(match["whole"] or 0) + Fraction(int(match["upper"]), int(match["lower"]))
    return None


def _decimal(digits: str) -> int | float:
    return float(digits) if "." in digits else int(digits)


def _read_spoken(said: str) -> int | float | Fraction | None:
    """Read number words, if the extra is installed."""
    if any(sign.isdigit() for sign in said) or libraries.text_to_num() is None:
        return None
    words = _ONE.sub("one ", _COMMA.sub(r"\1", said))
    # The library stops at billions.
    head, trillion, rest = words.partition(" trillion")
    if not trillion:
        return _read_digits(words)
    count, more = _read_digits(head), _read_digits(rest.strip().removeprefix("and ")) if rest else 0
    if count is None or more is None or not more < 10**12:
        return None
    return count * 10**12 + more


def _read_digits(words: str) -> int | float | Fraction | None:
    words = f"zero {words}" if words.startswith("point ") else words
    written = libraries.write_digits(words)
    return _read_written(_YEAR.sub(r"\1\2", written))


def _read_count(said: str) -> int | float | None:
    """Read a number of something: "5 people", "three of them"; not "one moment", "3 pm"."""
    match = _COUNTED.fullmatch(said)
    if match is None or match["noun"] in _NO_COUNT or match["number"] in {"a", "an", "no"}:
        return None
    if match["noun"] and read_value(match["noun"]) is not None:
        return None
    return read_value(match["number"])


for _line in _TABLE.split(";"):
    _unit, _, _names = (part.strip() for part in _line.partition(":"))
    _UNITS.update(dict.fromkeys((*_names.split(), _unit.lower()), _unit))
_UNITS["degrees celsius"] = _UNITS["degrees c"] = "C"
_UNITS["degrees fahrenheit"] = _UNITS["degrees f"] = "F"


def read_measure(said: str) -> dict[str, Any] | None:
    """Return the `{value, unit}` of a plain text; units are from `units.py`, or money."""
    if match := _LEADING.fullmatch(said):
        return _measure(match["count"], match["unit"])
    words = said.split(" ")
    for last in (2, 1):
        if len(words) > last and (
            measure := _measure(" ".join(words[:-last]), " ".join(words[-last:]))
        ):
            return measure
    match = _TRAILING.fullmatch(said)
    return _measure(match["count"], match["unit"].strip()) if match else None


def _measure(count: str, name: str) -> dict[str, Any] | None:
    unit = _UNITS.get(name)
    if unit is None:
        return None
    value = _ARTICLE.get(count)
    value = read_value(count) if value is None else value
    return None if value is None else {"value": value, "unit": unit}
