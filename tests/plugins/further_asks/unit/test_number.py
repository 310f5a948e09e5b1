"""Numbers in digits and in words."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prolocutor.asks.answers import NotUnderstood, Understood
from prolocutor.asks.kinds import take_value
from prolocutor.reading import libraries
from tests.unit.asks.contexts import BERLIN, hint, value

NUMBERS = {
    "5": 5,
    "-7": -7,
    "−7": -7,
    "+3": 3,
    "3.50": 3.5,
    ".5": 0.5,
    "1,5": 1.5,
    "1,234.5": 1234.5,
    "1.234,5": 1234.5,
    "10 000": 10000,
    "1,000,000": 1000000,
    "12,34,567": 1234567,
    "1e5": 100000,
    "3/4": 0.75,
    "2 1/2": 2.5,
    "½": 0.5,
    "٣": 3,
    "20%": 20,
    "$5": 5,
    "5k": 5000,
    "1.5 million": 1500000,
    "five": 5,
    "one": 1,
    "zero": 0,
    "none": 0,
    "minus three point five": -3.5,
    "point five": 0.5,
    "twenty-one": 21,
    "one hundred and twenty-three": 123,
    "a hundred and one": 101,
    "twelve hundred": 1200,
    "five hundred thousand": 500000,
    "nineteen eighty four": 1984,
    "a dozen": 12,
    "two dozen": 24,
    "a couple": 2,
    "half": 0.5,
    "a quarter": 0.25,
    "three quarters": 0.75,
    "two and a half": 2.5,
    "two and a half million": 2500000,
    "half a million": 500000,
    "It's 42.": 42,
    "about twenty, I think": 20,
    "maybe 4": 4,
    "5 people": 5,
    "three of them": 3,
    "12 people or so": 12,
    "two tickets please": 2,
}
NO_NUMBERS = """one moment please|one moment|one second|a 4 star hotel|between 3 and 5|3 or 4|1.2.3|
1 2 3|one one|3rd|the third one|3 pm|at 5 o'clock|seven o'clock|a|an|a few|many|no|no one|someone|
anyone|none of your business|five?|how many?|what's two plus two|2+2|two plus two|nan|inf|infinity|
0x10|1e999|1/0|phone|often|tenant|one million and a half|3 may|May|call 911 now please|1,23,4|"""


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_a_number_is_read(text: str, number: float) -> None:
    assert value("number", text) == number


@pytest.mark.parametrize("text", "".join(NO_NUMBERS.split("\n")).split("|"))
def test_a_text_with_a_number_among_other_words_is_none(text: str) -> None:
    assert value("number", text) is None


@given(st.integers(-(2**53), 2**53))
def test_whole_numbers_come_back_as_they_were(number: int) -> None:
    assert value("number", str(number)) == number
    assert value("number", f"{number:,}") == number
    assert isinstance(value("number", str(number)), int)


@given(st.decimals(-(10**9), 10**9, places=3))
def test_decimals_come_back_as_they_were(number: object) -> None:
    assert value("number", str(number)) == float(str(number))


@given(
    st.integers(-(10**15), 10**15), st.sampled_from([" ", " and "]), st.sampled_from([" ", ", "])
)
@example(629_007_000, " ", " ")
def test_numbers_in_words_come_back_as_they_were(number: int, tens: str, groups: str) -> None:
    assert value("number", in_words(number, tens, groups)) == number


@given(st.integers(0, 999_999), st.lists(st.integers(0, 9), min_size=1, max_size=4))
def test_decimals_in_words_come_back_as_they_were(whole: int, digits: list[int]) -> None:
    said = f"{in_words(whole)} point {' '.join(SMALL[digit] for digit in digits)}"
    assert value("number", said) == float(f"{whole}.{''.join(map(str, digits))}")


def test_without_the_extra_digits_do_and_words_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "text_to_num", lambda: None)
    assert value("number", "1,234.5") == 1234.5
    assert "pip install 'prolocutor[asks]'" in hint("number", "twenty one")
    assert "pip install" not in hint("number", "3 or 4")


@pytest.mark.parametrize("number", [5, -0.5])
def test_a_parsed_number_is_taken(number: float) -> None:
    assert take_value("number", "number", number, BERLIN) == Understood(number)


@pytest.mark.parametrize("given_value", [True, "5", None, float("nan"), float("inf"), [5], 10**400])
def test_other_parsed_values_are_none(given_value: object) -> None:
    assert isinstance(take_value("number", "number", given_value, BERLIN), NotUnderstood)


SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


SCALES = {10**12: "trillion", 10**9: "billion", 10**6: "million", 1000: "thousand"}


def in_words(number: int, tens: str = " ", groups: str = " ") -> str:
    """Write a number in words; `tens` stands after hundreds, `groups` between groups of three."""
    if number < 0:
        return f"minus {in_words(-number, tens, groups)}"
    if number < 20:
        return SMALL[number]
    if number < 100:
        return "-".join([TENS[number // 10 - 2], *([SMALL[number % 10]] if number % 10 else [])])
    size = next((scale for scale in SCALES if number >= scale), 100)
    count, rest = divmod(number, size)
    said = f"{in_words(count, tens, groups)} {SCALES.get(size, 'hundred')}"
    between = tens if size == 100 or rest < 100 else groups
    return said + (between + in_words(rest, tens, groups) if rest else "")
