"""The chance agent: coins, dice, cards, random numbers, choices, orders and teams."""

import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from prolocutor_demo.chance.choices import (
    choose,
    in_order,
    into_teams,
    loose_choice,
)
from prolocutor_demo.chance.dice import roll
from prolocutor_demo.chance.random_numbers import draw_number
from prolocutor_demo.reading.courtesy import bare
from prolocutor_demo.reading.request import text_of
from prolocutor_demo.reading.when.lengths import NUMBER, number_of

DECLINE = "I toss coins, roll dice and pick at random; this needs something else."
LONGEST = 300
MOST_COINS = 100

_SUITS = ("hearts", "spades", "clubs", "diamonds")
_RANKS = ("ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_FACES = ("jack", "queen", "king")
_COLOURS = (
    "red orange yellow green blue purple pink brown black white grey turquoise violet gold silver"
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_MONTHS = "January February March April May June July August September October November December"
_ORACLE = (
    "It is certain.",
    "Without a doubt.",
    "You may rely on it.",
    "Signs point to yes.",
    "The outlook is good.",
    "Ask again later.",
    "I cannot tell now.",
    "Do not count on it.",
    "The outlook is not so good.",
    "Very doubtful.",
)


class _ChanceReply(NamedTuple):
    text: str
    confidence: float


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Answer by chance, with the same result if the turn runs again; decline all else."""
    text = bare(text_of(request))
    reply = _reply(text, random.Random(_seed(request))) or _ChanceReply(DECLINE, 0.05)
    return [{"text": reply.text, "confidence": reply.confidence}]


def _reply(text: str, chance: random.Random) -> _ChanceReply | None:
    if not text or len(text) > LONGEST or _ELSEWHERE.search(text):
        return None
    for pattern, draw, confidence in _DRAWS:
        if pattern.fullmatch(text) and (said := draw(text, chance)):
            return _ChanceReply(said, confidence)
    for read, confidence in _READERS:
        if said := read(text, chance):
            return _ChanceReply(said, confidence)
    return None


def _coin(text: str, chance: random.Random) -> str:
    found = _TIMES.search(text) or _COINS.search(text)
    said = found["count"].lower() if found else "one"
    count = 2 if said == "twice" else int(number_of(said))
    if count > MOST_COINS:
        return f"I toss {MOST_COINS} coins at most."
    if count < 2:
        return "Heads." if chance.random() < 0.5 else "Tails."
    sides = [chance.choice(("heads", "tails")) for _ in range(count)]
    return f"{', '.join(sides).capitalize()}: heads {sides.count('heads')} of {count} times."


def _card(text: str, chance: random.Random) -> str:
    found = _CARDS.search(text)
    count = int(number_of(found["count"])) if found else 1
    deck = [f"the {rank} of {suit}" for suit in _SUITS for rank in _RANKS + _FACES]
    cards = chance.sample(deck, min(max(count, 1), len(deck)))
    return f"You draw {', '.join(cards)}."


def _one_of(words: str) -> Callable[[str, random.Random], str]:
    def draw(text: str, chance: random.Random) -> str:
        return f"{chance.choice(words.split()).capitalize()}."

    return draw


def _letter(text: str, chance: random.Random) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return f"{chance.choice('AEIOU' if 'vowel' in text.lower() else letters)}."


def _oracle(text: str, chance: random.Random) -> str:
    return chance.choice(_ORACLE)


def _hands(text: str, chance: random.Random) -> str:
    return f"I take {chance.choice(('rock', 'paper', 'scissors'))}. What did you have?"


def _seed(request: dict[str, Any]) -> str:
    """Return the utterance's id, so that a turn run twice gives the same answer."""
    utterances = request.get("human_utterances")
    last = utterances[-1] if isinstance(utterances, list) and utterances else None
    if not isinstance(last, dict):
        return ""
    return str(last.get("utt_id") or f"{last.get('date_time')} {text_of(request)}")[:200]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_TOSS = r"(?:flip|toss|throw|spin)"
_COIN = r"(?:coins?|quarters?|penny|pennies|dime)"
_PICK = (
    r"(?:pick|choose|draw|select|give me|tell me|say|name|generate|i want|take|show me|think of)"
)
_RANDOM = r"(?:a |an |any |some )?(?:(?:completely )?random|arbitrary) "
_COINS = _pattern(rf"\b(?P<count>{NUMBER}) {_COIN}\b")
_TIMES = _pattern(rf"\b(?P<count>twice|{NUMBER}(?= times\b))")
_CARDS = _pattern(rf"\b(?P<count>{NUMBER}) (?:playing )?cards\b")
_ELSEWHERE = _pattern(
    r"\b(?:jokes?|puns?|defin(?:e|ition)|synonyms?|antonyms?|thesaurus|translate|rem[a-z]*d me"
    r"|timers?|reminders?|shopping|to-?do|convert|odds|probability)\b"
    r"|\bwhat(?:'s| is| does) (?:the )?(?:[a-z]+ )?(?:mean|meaning|chance)"
)
_DRAWS: tuple[tuple[re.Pattern[str], Callable[[str, random.Random], str | None], float], ...] = (
    (_pattern(rf".*\b{_TOSS}\b.*\b{_COIN}\b.*|.*\b{_COIN}[- ](?:flip|toss)\b.*"), _coin, 0.95),
    (_pattern(r"(?=.*\bheads\b.*\btails\b).*"), _coin, 0.95),
    (_pattern(rf"(?:let|have|use|ask)\b.*\ba {_COIN}\b.*|{_TOSS} (?:it|one|up)"), _coin, 0.85),
    (_pattern(rf"(?:{_PICK}|deal)\b.*\bcards?\b.*|(?:a )?random (?:playing )?card"), _card, 0.94),
    (_pattern(rf"(?:{_PICK} )?{_RANDOM}colou?r"), _one_of(_COLOURS), 0.94),
    (_pattern(rf"(?:{_PICK} )?{_RANDOM}(?:day(?: of the week)?|weekday)"), _one_of(_DAYS), 0.94),
    (_pattern(rf"(?:{_PICK} )?{_RANDOM}month(?: of the year)?"), _one_of(_MONTHS), 0.94),
    (_pattern(rf"(?:{_PICK} )?{_RANDOM}(?:letter|vowel)(?: of the alphabet)?"), _letter, 0.94),
    (
        _pattern(r".*\byes or no\b(?: at random| randomly)?|random yes or no|yes/no"),
        _one_of("yes no"),
        0.85,
    ),
    (_pattern(r".*\bmagic (?:8|eight)[- ]?ball\b.*|shake the (?:8|eight) ?ball.*"), _oracle, 0.95),
    (_pattern(r".*\brock,? ?paper,? ?(?:and |or )?scissors\b.*"), _hands, 0.95),
)
_READERS: tuple[tuple[Callable[[str, random.Random], str | None], float], ...] = (
    (into_teams, 0.93),
    (in_order, 0.93),
    (roll, 0.95),
    (draw_number, 0.95),
    (choose, 0.92),
    (loose_choice, 0.66),
)
