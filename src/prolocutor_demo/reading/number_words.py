"""Converts number words to digits, and formats numbers as text."""

import re
from fractions import Fraction

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL: dict[str, int] = {word: n for n, word in enumerate(ONES)} | {
    word: 10 * n for n, word in enumerate(TENS, start=2)
}
_SMALL |= {"fourty": 40, "ninty": 90, "twelwe": 12}
_SCALES: dict[str, int] = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_SCALES |= {"trillion": 10**12, "dozen": 12, "lakh": 10**5, "crore": 10**7}
_SHORT: dict[str, int] = {"k": 10**3, "bn": 10**9}
_DENOMINATORS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6}
_DENOMINATORS |= {"eighth": 8, "tenth": 10, "hundredth": 100}

_WORD = "|".join(sorted({*_SMALL, *_SCALES}, key=len, reverse=True))
_SCALE = "|".join(_SCALES)
_AND = r"(?:(?:(?<=hundred )|(?<=thousand )|(?<=illion ))and )?"
_RUN = re.compile(
    rf"\b(?:(?P<a>an?) (?=(?:{_SCALE})\b))?"
    rf"(?P<run>(?:(?:{_WORD})|\d+(?:\.\d+)? ?(?=(?:{_SCALE})\b))(?:[ -]?{_AND}(?:{_WORD})\b)*)"
    rf"(?P<point> point(?: (?:{'|'.join(ONES[:10])}))+)?\b"
)
_THOUSANDS = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d\d)+,\d{3})(?![\d,])")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d,])")
_SUFFIXED = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?(k|bn)(?![\w²³/])")
_FRACTION_WORDS = re.compile(
    rf"\b(?:(\d+|an?) )?({'|'.join(_DENOMINATORS)})s?\b(?: of (?:an? )?| (?:an? )?)"
)
_UNIT_AND_PART = re.compile(
    r"\b(?P<count>\d+|an?) (?P<unit>[a-z]{2,12}) and (?:a|one|1) (?P<part>half|third|quarter)\b"
)
_PART_OF_SCALE = re.compile(r"\b(?:a )?(half|quarter) (?:of )?a (million|billion|thousand|dozen)\b")
_MIXED = re.compile(r"(?<![\d./])(\d+) (\d+)/([1-9]\d*)(?![\d./])")
_AND_A_HALF = re.compile(r"\b(\d+) and (?:an? )?(half|quarter|third|\d+ quarters|\d+ thirds)\b")


def with_digits(text: str) -> str:
    """Return the text with number words, thousands separators, 2k and 3 million as plain digits.

    `text` is lower case: "twenty three times 1,000" becomes "23 times 1000".
    """
    text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
    text = _PART_OF_SCALE.sub(
        lambda found: _text_of(Fraction(_SCALES[found[2]], _DENOMINATORS[found[1]])), text
    )
    text = _RUN.sub(_run_as_digits, text)
    text = _AND_A_HALF.sub(_mixed_as_digits, text)
    return _SUFFIXED.sub(lambda found: _text_of(Fraction(found[1]) * _SHORT[found[2]]), text)


def joined_groups(text: str) -> str:
    """Return the text with "10 000" as 10000; for text where blanks separate nothing else."""
    return _SPACED.sub(lambda found: found[0].replace(" ", ""), text)


def with_fractions(text: str) -> str:
    """Return the text with "half a", "three quarters of", "1 1/2" before a noun as decimals."""
    text = _MIXED.sub(
        lambda found: _text_of(int(found[1]) + Fraction(int(found[2]), int(found[3]))), text
    )
    text = _UNIT_AND_PART.sub(
        lambda found: f"{_mixed(found['count'], found['part'])} {found['unit']}", text
    )
    return _FRACTION_WORDS.sub(_fraction_as_digits, text)


def _mixed(count: str, part: str) -> str:
    return _text_of(int(count if count.isdigit() else 1) + Fraction(1, _DENOMINATORS[part]))


def number_text(value: Fraction | float, places: int = 2) -> str:
    """Return a number with thousands separators and at most `places` decimals, more if small."""
    if not -(2**53) < value < 2**53 or value == int(value):
        return f"{int(value):,}"
    number = float(value)
    if -1 < number < 1:
        text = f"{number:.{places + 2}g}"
        return text if "e" in text else text.rstrip("0").rstrip(".") or "0"
    text = f"{number:,.{places}f}"
    return text.rstrip("0").rstrip(".")


def _run_as_digits(found: re.Match[str]) -> str:
    numbers: list[str] = []
    total, group = Fraction(0), Fraction(1 if found["a"] else 0)
    started = False
    for word in re.findall(rf"\d+(?:\.\d+)?|{_WORD}", found["run"]):
        value = _SMALL.get(word)
        if value is not None:
            if started and not _continues(group, value):
                numbers.append(_text_of(total + group))
                total, group = Fraction(0), Fraction(0)
            group += value
        elif word not in _SCALES:
            group += Fraction(word)
        elif _SCALES[word] <= 100:
            group = (group or Fraction(1)) * _SCALES[word]
        else:
            total, group = total + (group or Fraction(1)) * _SCALES[word], Fraction(0)
        started = word not in _SCALES or _SCALES[word] <= 100
    numbers.append(_text_of(total + group))
    if found["point"]:
        numbers[-1] += "." + "".join(str(_SMALL[word]) for word in found["point"].split()[1:])
    return " ".join(numbers)


def _continues(group: Fraction, value: int) -> bool:
    """Return whether "three" (value) can follow "twenty" (group) within one number."""
    if value < 10:
        return value > 0 and group % 10 == 0 and (group % 100 == 0 or group % 100 >= 20)
    return group % 100 == 0 and group > 0


def _mixed_as_digits(found: re.Match[str]) -> str:
    count, _, name = found[2].rpartition(" ")
    part = Fraction(int(count or 1), _DENOMINATORS[name.rstrip("s")])
    return _text_of(int(found[1]) + part)


def _fraction_as_digits(found: re.Match[str]) -> str:
    count = int(found[1]) if found[1] and found[1].isdigit() else 1
    return _text_of(Fraction(count, _DENOMINATORS[found[2]])) + " "


def _text_of(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.10g}"
