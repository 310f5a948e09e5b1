"""Results: a number that a reply gave, and things that it named, for words that go on from them."""

from __future__ import annotations

import re
from typing import Final

from prolocutor_demo.follow_ups import slots
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.remarks import Remark

_RESULT: Final = re.compile(
    r"(?:=|≈|\bis\b|\bare\b|\bmakes?\b|\bequals?\b|\bhas\b)\s*(?:about |approximately "
    r"|roughly )?(?P<value>[-−]?\d[\d,]*(?:\.\d+)?(?:\s?/\s?\d+)?"
    r"(?: (?:thousand|million|billion))?)(?P<unit> [A-Za-z°][\w°]*(?: [a-z]\w+)?)?"
)
_NUMBER: Final = re.compile(r"(?P<value>[-−]?\d[\d,]*(?:\.\d+)?)")
_OPERAND: Final = rf"(?:{slots.NUMBER.pattern})(?:\s?(?:%|percent))?"
_THAT: Final = r"(?:that|it|this|the (?:result|answer)|those)"
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
            rf"(?:subtract|take away|minus|take|deduct|remove|less) (?P<n>{_OPERAND})(?: (?:from"
            rf"|off|away)(?: {_THAT})?)?"
        ),
        "{v} minus {n}",
    ),
    (rf"(?:multiply|times) (?:{_THAT} )?(?:by )?(?P<n>{_OPERAND})", "{v} times {n}"),
    (rf"divide (?:{_THAT} )?(?:by )?(?P<n>{_OPERAND})", "{v} divided by {n}"),
    (
        rf"(?:half|halve|(?:what(?:'s| is) )?half) (?:of )?{_THAT}|halve it|halved",
        "{v} divided by 2",
    ),
    (rf"(?:double|twice) {_THAT}|doubled", "{v} times 2"),
    (rf"(?:triple) {_THAT}|tripled", "{v} times 3"),
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

_ORDINALS: Final = {
    "first": 0,
    "second": 1,
    "third": 2,
    "fourth": 3,
    "fifth": 4,
    "last": -1,
    "latter": -1,
    "former": 0,
}
_POINTS: Final = re.compile(
    r"(?:the )?(?:(?P<ordinal>first|second|third|fourth|fifth|last|latter|former)(?: one"
    r"| option| of (?:them|those|these)| city| country| place| word| item)?|(?:number|option"
    r"|no\.?) (?P<number>\d|one|two|three|four|five))",
    re.IGNORECASE,
)
_WORDED: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_NUMBERED: Final = re.compile(
    r"(?:^|\s)(?:\(?\d{1,2}[.):])\s*(?P<item>.{1,80}?)(?=\s*(?:[;,\n]|\(?\b\d{1,2}[.):]\s|$))"
)
_ITEM: Final = r"[\w'’-]{1,30}(?: [\w'’-]{1,30}){0,3}"
_LISTED: Final = re.compile(
    rf"(?P<list>{_ITEM}(?:[,;] (?!and\b|or\b){_ITEM})*,? (?:and|or) {_ITEM})"
)
_LIST_LEAD: Final = re.compile(
    r".*\b(?:is|are|be|has|have|of|by|with|mean|for|:)\s+", re.IGNORECASE
)


def value_of(reply: str, *, units: bool = False) -> str:
    """Return the number that a reply gave, with its unit if wanted; "" if it gave none."""
    found = list(_RESULT.finditer(reply))
    if found:
        one = found[-1]
        value = one["value"].replace(",", "").replace("−", "-")
        return f"{value}{one['unit'] or ''}" if units else value
    plain = list(_NUMBER.finditer(reply))
    return plain[-1]["value"].replace(",", "").replace("−", "-") if plain and not units else ""


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


def option_named(text: str, turn: LastTurn) -> tuple[slots.Span, str] | None:
    """Return where a text points to one of several things, and which that is."""
    points = _POINTS.search(text)
    if points is None or not re.search(
        r"\b(?:one|option|number|no|them|those|these|last|latter|former)\b|^\W*(?:the )?\w+\W*$",
        points[0],
        re.IGNORECASE,
    ):
        return None
    if points.span() != (0, len(text)) and not re.search(
        r"\b(?:one|option|latter|former|number|of (?:them|those|these))\b", points[0], re.IGNORECASE
    ):
        return None
    items = _items(turn.reply) or _items(turn.question)
    number = points["number"]
    place = (
        _ORDINALS[points["ordinal"].lower()]
        if points["ordinal"]
        else int(_WORDED.get(number.lower(), number)) - 1
    )
    if not -1 <= place < len(items) or len(items) < 2:
        return None
    return points.span(), items[place]


def _items(text: str) -> list[str]:
    """Return the things that a text lists: numbered, or with commas, "and" or "or"."""
    numbered = [one["item"].strip(" .") for one in _NUMBERED.finditer(text)]
    if len(numbered) > 1:
        return numbered
    listed = _LISTED.search(text)
    if listed is None:
        return []
    items = [
        one.strip() for one in re.split(r"[,;]\s*(?:and |or )?|\s+(?:and|or)\s+", listed["list"])
    ]
    items[0] = _LIST_LEAD.sub("", items[0])
    return [one for one in items if one]
