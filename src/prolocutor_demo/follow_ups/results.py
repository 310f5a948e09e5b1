"""Results: a number that a reply gave, and things that it named, for words that go on from them."""

from __future__ import annotations

import re
from typing import Final

from prolocutor_demo.follow_ups import slots
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.remarks import Remark

_RESULT: Final = re.compile(
    r"(?:=|≈|\bis\b|\bare\b|\bmakes?\b|\bequals?\b|\bhas\b)\s*(?:about |approximately "
    r"|roughly )?(?P<value>[-−]?\d[\d,]*(?:\.\d+)?(?![\d:])(?:\s?/\s?\d+)?"
    r"(?: (?:thousand|million|billion))?)(?P<unit> [A-Za-z°][\w°]*(?: [a-z]\w+)?)?"
)
_NUMBER: Final = re.compile(r"(?P<value>[-−]?\d[\d,]*(?:\.\d+)?)")
_OPERAND: Final = rf"(?:{slots.NUMBER.pattern})(?:\s?(?:%|percent))?"
_THAT: Final = (
    r"(?:(?:that|this|the) (?:result|answer|outcome|total|sum|product|number|figure)"
    r"|what(?:ever)?(?:'s| is| came| comes)? (?:left|out|of it|out of (?:it|that))"
    r"|that|it|this|those)"
)
_AFTER: Final = re.compile(
    rf"(?:and )?(?:{_THAT} )?(?P<operation>(?:multiplied by|divided by|times|plus|minus|over"
    rf"|mod(?:ulo)?|to the power of|raised to(?: the power of)?|[-+*/^x×÷])\s*{_OPERAND}"
    rf"|squared|cubed)",
    re.IGNORECASE,
)
_ORDERS: Final = (
    (rf"(?:add|plus) (?P<n>{_OPERAND})(?: (?:to|on) {_THAT})?", "{v} plus {n}"),
    (
        (
            r"(?:subtract|take away|minus|take|deduct|remove|less|knock(?: off)?) "
            rf"(?P<n>{_OPERAND})(?: (?:from|off|away)(?: {_THAT})?)?"
        ),
        "{v} minus {n}",
    ),
    (rf"(?:multiply|times) (?:{_THAT} )?(?:by )?(?P<n>{_OPERAND})", "{v} times {n}"),
    (rf"divide (?:{_THAT} )?(?:by )?(?P<n>{_OPERAND})", "{v} divided by {n}"),
    (
        (
            rf"(?:half|halve|(?:what(?:'s| is) )?half) (?:of )?{_THAT}|halved?"
            rf"|split {_THAT} in (?:half|two)"
        ),
        "{v} divided by 2",
    ),
    (rf"(?:double|twice) {_THAT}|doubled?", "{v} times 2"),
    (rf"(?:triple|treble) {_THAT}|tripled?", "{v} times 3"),
    (rf"(?:quarter) {_THAT}|quartered", "{v} divided by 4"),
    (
        rf"square {_THAT}|(?:what(?:'s| is) )?{_THAT} squared|(?:the )?square of {_THAT}",
        "{v} squared",
    ),
    (rf"cube {_THAT}|(?:what(?:'s| is) )?{_THAT} cubed|(?:the )?cube of {_THAT}", "{v} cubed"),
    (
        (
            rf"(?:what(?:'s| is) |take )?(?:the )?(?P<n>square root|cube root|factorial"
            rf"|root)(?: of {_THAT})?"
        ),
        "{n} of {v}",
    ),
    (
        (
            rf"(?:what(?:'s| is) |how much is |and )?(?P<n>{_OPERAND}|a (?:third|quarter|half|tenth"
            rf"|fifth)) of {_THAT}"
        ),
        "{n} of {v}",
    ),
    (rf"raise {_THAT} to the power of (?P<n>{_OPERAND})", "{v} to the power of {n}"),
    (rf"round (?:{_THAT})(?P<n>.*)", "round {v}{n}"),
    (
        (
            rf"(?:what(?:'s| is) )?{_THAT} (?P<n>(?:plus|minus|times|divided by|multiplied by"
            rf"|[-+*/^])\s*{_OPERAND})"
        ),
        "{v} {n}",
    ),
    (
        (
            rf"(?:what (?:is|if)|what's|how much is) (?:i (?:add"
            rf"|subtract) )?{_THAT} (?P<n>(?:plus|minus|times|divided by|multiplied by"
            rf"|[-+*/^])\s*{_OPERAND})"
        ),
        "{v} {n}",
    ),
)
_ORDER_FORMS: Final = [(re.compile(pattern, re.IGNORECASE), form) for pattern, form in _ORDERS]
_CALCULATES: Final = re.compile(
    r"\d\s*(?:[-+*/^x×÷%]|plus|minus|times|divided|over|percent|squared|cubed|factorial)"
    r"|\b(?:root|sum|product|half|third|quarter|percent|average|mean|factorial|plus|minus"
    r"|times|divided|squared|cubed|multiply|divide|subtract)\b",
    re.IGNORECASE,
)


def value_of(reply: str, *, units: bool = False) -> str:
    """Return the number that a reply gave, with its unit if wanted; "" if it gave none."""
    found = list(_RESULT.finditer(reply))
    if found:
        one = found[-1]
        value = one["value"].replace(",", "").replace("−", "-")
        return f"{value}{one['unit'] or ''}" if units else value
    plain = list(_NUMBER.finditer(reply))
    alone = len(plain) == 1 and not units  # "22:46 on Saturday, 28 November" is no result
    return plain[0]["value"].replace(",", "").replace("−", "-") if alone else ""


def continued_sum(remark: Remark, turn: LastTurn) -> str:
    """Return the sum that goes on from the last result; "" where the words are no such thing."""
    rest = remark.rest
    if remark.text.lower().startswith("plus ") and not rest.lower().startswith("plus"):
        rest = f"plus {rest}"
    after = _AFTER.fullmatch(rest)
    if after:
        power = re.match(r"(?:to the power of|raised to)", after["operation"], re.IGNORECASE)
        old = power and re.search(r"to the power of \S+", turn.question, re.IGNORECASE)
        if old:
            return slots.put(turn.question, old.span(), after["operation"])
    if not after and not any(pattern.fullmatch(rest) for pattern, _ in _ORDER_FORMS):
        return ""
    points = re.search(rf"\b{_THAT}\b", rest, re.IGNORECASE)
    sums = _CALCULATES.search(turn.question) or _RESULT.search(turn.reply)
    if not points and not sums:
        return ""
    value = value_of(turn.reply)
    if not value:
        return ""
    if after:
        return f"{value} {after['operation']}"
    for pattern, form in _ORDER_FORMS:
        if found := pattern.fullmatch(rest):
            number = found.groupdict().get("n") or ""
            return form.format(v=value, n=number)
    return ""
