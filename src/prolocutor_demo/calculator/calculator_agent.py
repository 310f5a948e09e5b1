"""The calculator: an agent that reads arithmetic, in signs or in words, and calculates it."""

import re
from typing import Any

from prolocutor_demo.calculator.arithmetic import NotArithmetic, Undefined, evaluate
from prolocutor_demo.calculator.sums import equation, read_phrase
from prolocutor_demo.reading.number_words import with_digits
from prolocutor_demo.reading.request import text_of
from prolocutor_demo.reading.wording import (
    LIKELY,
    SURE,
    Reading,
    read_whole_or_parts,
    reply,
)

DECLINING = "I only know how to calculate."

_LEAD = re.compile(
    r"(?:(?:what (?:do|would|will|did) (?:i|you|we) (?:get|have) (?:if|when) (?:i|you|we)|"
    r"what happens (?:if|when) (?:i|you|we)|what(?: is|s| are| does| do| would)?|"
    r"calculate|compute|evaluate|solve|"
    r"(?:i need|i want|give me)(?= the )|how much (?:is|are)|"
    r"the (?:result|value|answer) (?:of|to)|find|add up|do the sum)\s+)+"
)
_TAIL = re.compile(r"(?<!\s)\s*+(?:(?:be )?equals?(?: to)?|be|is|make|give|come to|=)?+[\s?.=]*+$")
_MONEY = re.compile(
    r"(?P<sign>[$€£])(?= ?\d)|(?<=\d)(?P<after>[$€£])| (?P<word>dollar|euro|pound|buck)s?\b"
)
_COINS = re.compile(r"(?<=\d) (?:dollar|euro|pound|buck|quid)s? (?:and )?(\d\d)(?![\d.])")
"""Coins after whole money: "six pound forty"."""

_NOT_SUMS = re.compile(
    r"\d{4}-\d\d-\d\d|(?<!\d)\d\d?/\d\d?/\d{4}|(?<!\d)\d\d?-\d\d?-\d{4}|\d:\d\d|"
    r"^\+|^\d{3}-\d{3,4}(?:-\d{4})?$"
)
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_REWRITES = [
    (re.compile(old), new)
    for old, new in (
        (r"[×·∗]|\bmultiplied (?:by|with)\b|\btimes\b|(?<=[\d)!]) ?x ?(?=[\d(])", " * "),
        (r"(?<=\d) multiply(?: by)? (?=[\d(])", " * "),
        (r"÷|\b(?:divided? )?by\b|(?<=\d) divide (?=[\d(])|\bover\b", " / "),
        (r"(?<=[\d)]) : (?=[\d(])", " / "),
        (r"²|\bsquared\b", "^2"),
        (r"³|\bcubed\b", "^3"),
        (r"\b(?:raised )?to the (?:power(?: of)?|exponent(?: of)?) ", "^"),
        (r"\braised to(?: the)? ", "^"),
        (r"\b(?:raised )?to the (\d+)(?:st|nd|rd|th)(?: power)?", r"^\1"),
        (r"\bplus\b|\badded to\b", "+"),
        (r"\b(?:minus|negative|less|subtract(?:ed)?|take away)\b", "-"),
        (r"(?:the )?\bsquare of (-?[\d.]+)", r"(\1)^2"),
        (r"(?:the )?\bcube of (-?[\d.]+)", r"(\1)^3"),
        (r"(?:the )?\bfactorial (?:of )?(-?[\d.]+)", r"\1!"),
        (r"(?<=\d) ?factorial\b", "!"),
        (r"(?<!\d)(?:the )?(\d++)(?:st|nd|rd|th) root(?: of)?", r" \1 root "),
        (r"(?:the )?\bcube root(?: of)?(?= ?[\d(])", " cbrt "),
        (r"√|(?:the )?\b(?:square root|sqrt|(?<!\d )root)(?: of)?(?= ?[-\d(])", " sqrt "),
        (r"(?:the )?\b(?:natural log(?:arithm)?|ln)(?: of)?", " ln "),
        (r"(?:the )?\blog(?:arithm)?(?: of)?(?= ?[\d(])", " log "),
        (r"(?:the )?\b(sin|cos|tan)(?:e|ine|gent)?(?: of)?(?= ?[\d(pπ])", r" \1 "),
        (r"(?:the )?\babsolute (?:value )?of", " abs "),
        (r" ?degrees?\b", "° "),
        (r" ?percent(?: of)?(?= ?[\d(])", "% of "),
        (r" ?percent\b", "%"),
        (r"(?<=%) of (?:the|my|our|an?|his|her) [a-z ]{1,30} of (?=\d)", " of "),
        (r"(?<=%) of (?:the )?", " of "),
        (r"\b(?:modulo|modulus)\b", "mod"),
        (r"\b(?:an? )?half (?:of )?(?=[\d(])", "(1/2) of "),
        (r"(?<=[-+*/×÷] )(?:a )?half\b(?! of)", " (1/2)"),
        (r"\b(?:an? )?quarter of\b", "(1/4) of"),
        (r"\b(?:a )?third of\b", "(1/3) of"),
        (r"(?<!\d)(\d++) (?:quarters|fourths) of\b", r"(\1/4) of"),
        (r"(?<!\d)(\d++) thirds of\b", r"(\1/3) of"),
        (r"(?<!\d)(\d++) fifths of\b", r"(\1/5) of"),
        (r"\b(?:a|1) fifth of\b", "(1/5) of"),
        (r"\b(?:an?|1) (?:eigh|8)th of\b", "(1/8) of"),
        (r"\b(?:a|1) tenth of\b", "(1/10) of"),
        (r"\b(?:double|twice) ", "2 * "),
        (r"\b(?:triple|thrice) ", "3 * "),
        (r"(?<![\d./^])(\d+) (\d+)/(\d+)(?![\d./])", r"(\1+\2/\3)"),
    )
]


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the result of the calculation, exact where possible; decline all else."""
    return reply(read_whole_or_parts(text_of(request), _read), DECLINING)


def _read(words: str) -> Reading | None:
    words = _without_ordinals(with_digits(words))
    if not re.search(r"\d|\bpi\b|π", words) or _NOT_SUMS.search(words):
        return None
    words = _without_money(words)
    words = _TAIL.sub("", words[found.end() :] if (found := _LEAD.match(words)) else words)
    try:
        return read_phrase(words) or _read_expression(words)
    except Undefined as undefined:
        return str(undefined), SURE
    except (ZeroDivisionError, OverflowError):
        return "That has no value that I could write down, sorry.", LIKELY


def _without_ordinals(words: str) -> str:
    if not re.search(r" root| power| to the ", words):
        return words
    for number, ordinal in enumerate(_ORDINALS, start=1):
        words = re.sub(rf"\b{ordinal}(?= (?:root|power))", f"{number}th", words)
        words = re.sub(rf"\bto the {ordinal}\b", f"to the {number}th", words)
    return words


def _without_money(words: str) -> str:
    """Return the words without the signs of one currency; leave the signs of several."""
    words = _COINS.sub(r".\1", words)
    kinds = {found["sign"] or found["after"] or found["word"] for found in _MONEY.finditer(words)}
    return _MONEY.sub("", words) if len(kinds) == 1 else words


def _read_expression(words: str) -> Reading | None:
    expression = words.removeprefix("the ")
    for old, new in _REWRITES:
        expression = old.sub(new, expression)
    expression = " ".join(expression.split())
    try:
        value = evaluate(expression)
    except NotArithmetic:
        return None
    return equation(expression, value), SURE
