"""Rolls dice: "2d6+1", "three dice", "a d20 with advantage", "4d6 drop the lowest"."""

import random
import re

from prolocutor_demo.reading.when.lengths import NUMBER, number_of

MOST_DICE = 100
MOST_SIDES = 1000

_SIDES = {"percentile": 100, "initiative": 20, "twenty": 20, "twelve": 12, "ten": 10, "eight": 8}
_SIDES |= {"six": 6, "four": 4, "three": 3, "hundred": 100}
_VERB = r"\b(?:roll|rol|throw|cast|toss|rolling|re-?roll|chuck|shake)\b"
_DIE = r"\b(?:dices?|die|d\d{1,4}|\d{1,6}d\d{1,4}|d%)"
_NOTATION = re.compile(
    r"(?<![\w.])(?P<count>\d{1,6})?\s?d(?P<sides>\d{1,4}|%)(?!\w)"
    r"|(?P<sign>[+-]|\bplus|\bminus)\s*(?P<add>\d{1,4})\b(?!\s?d\d)",
    re.IGNORECASE,
)
_SIDED = re.compile(rf"\b(?P<sides>\d{{1,4}}|{'|'.join(_SIDES)})[- ]?sided?\b", re.IGNORECASE)
_COUNT = re.compile(
    rf"\b(?P<count>{NUMBER}) (?:\w+[- ]sided? )?(?:dices?|die|of them|d(?=\d))", re.IGNORECASE
)
_TIMES = re.compile(rf"\b(?P<count>twice|thrice|{NUMBER}(?= times\b))", re.IGNORECASE)
_ASKS = re.compile(
    rf"(?:.*{_VERB}.*{_DIE}.*|.*{_DIE}\b.*\b(?:rolls?|throws?)\b.*"
    rf"|.*{_VERB}.*\b(?:initiative|my turn|percentile)\b.*|.*\bmy turn\b.*{_VERB}.*"
    r"|(?:\d{1,3})?d\d{1,4}\b[\sd\d+-]*|(?:[a-z]+ |\d+ )?dice(?: roll)?)",
    re.IGNORECASE,
)
_ALIEN = re.compile(r"\b(?:how|why|who|when|where|meaning|sum of|product)\b", re.IGNORECASE)


def roll(text: str, chance: random.Random) -> str | None:
    """Return the result of the dice that the text names; None if it names none."""
    if not _ASKS.fullmatch(text) or _ALIEN.search(text):
        return None
    groups, bonus = _dice(text)
    if not groups:
        return None
    if sum(count for count, _ in groups) > MOST_DICE or any(s > MOST_SIDES for _, s in groups):
        return f"That is too much for my table: {MOST_DICE} dice of {MOST_SIDES} sides at most."
    if any(count < 1 or sides < 2 for count, sides in groups):
        return "A die needs at least two sides, and there must be one to roll."
    thrown = [chance.randint(1, sides) for count, sides in groups for _ in range(count)]
    return _said(text, groups, thrown, bonus)


def _dice(text: str) -> tuple[list[tuple[int, int]], int]:
    groups, bonus = [], 0
    for found in _NOTATION.finditer(text):
        if found["sides"]:
            sides = 100 if found["sides"] == "%" else int(found["sides"])
            groups.append((int(found["count"] or 1), sides))
        else:
            bonus += int(found["add"]) * (-1 if found["sign"].lower() in {"-", "minus"} else 1)
    if not groups:
        groups = [(1, _sides(text))]
    if len(groups) == 1 and groups[0][0] == 1:
        groups = [(_count(text), groups[0][1])]
    return groups, bonus


def _sides(text: str) -> int:
    if found := _SIDED.search(text):
        said = found["sides"].lower()
        return _SIDES[said] if said in _SIDES else int(said)
    special = re.search(r"\b(?:percentile|initiative)\b", text, re.IGNORECASE)
    return _SIDES[special[0].lower()] if special else 6


def _count(text: str) -> int:
    if re.search(r"\b(?:dis)?advantage\b|\bmonopoly\b|\bpair of\b", text, re.IGNORECASE):
        return 2
    found = _TIMES.search(text) or _COUNT.search(text)
    said = found["count"].lower() if found else "one"
    return {"twice": 2, "thrice": 3}.get(said) or int(number_of(said))


def _said(text: str, groups: list[tuple[int, int]], thrown: list[int], bonus: int) -> str:
    lower = text.lower()
    kept, note = thrown, ""
    if "disadvantage" in lower or re.search(r"\b(?:keep|take)\b.*\blowest\b", lower):
        kept, note = [min(thrown)], ", the lower counts"
    elif "advantage" in lower or re.search(r"\b(?:keep|take)\b.*\bhighest\b", lower):
        kept, note = [max(thrown)], ", the higher counts"
    elif re.search(r"\b(?:drop|without|ignore)\b.*\blowest\b", lower) and len(thrown) > 1:
        kept, note = sorted(thrown)[1:], ", the lowest dropped"
    elif re.search(r"\b(?:drop|without|ignore)\b.*\bhighest\b", lower) and len(thrown) > 1:
        kept, note = sorted(thrown)[:-1], ", the highest dropped"
    total = sum(kept) + bonus
    if len(thrown) == 1 and not bonus:
        return f"You rolled {total}."
    shown = ", ".join(map(str, thrown))
    sign = f" {'+' if bonus > 0 else '-'} {abs(bonus)}" if bonus else ""
    dice = " + ".join(f"{count if count > 1 else ''}d{sides}" for count, sides in groups)
    return f"You rolled {shown} ({dice}{sign}{note}): {total}."
