"""SimulatedPerson: what a person of a simulation says after an answer, with noise."""

from __future__ import annotations

import random
from typing import Final, Literal

import msgspec

from prolocutor.plugins.pairing.text import STOP_WORDS, words

Reaction = Literal["thanks", "rejects", "asks again", "goes on"]

_THANKS: Final = (
    "thanks",
    "thank you",
    "great, thanks",
    "perfect",
    "that's right",
    "awesome",
    "thx",
    "cool, that helps",
    "nice one, bye",
    "you rock",
)
_REJECTIONS: Final = (
    "no, that is wrong",
    "that's not what I asked",
    "wrong",
    "no",
    "that doesn't help",
    "this is not right",
    "no, I asked for something else",
    "you misunderstood",
    "hm, are you serious?",
    "what",
    "I do not think so",
    "come on",
    "useless",
)
"""Some of both are not among the phrases that are known, as in life."""

_FRAMES: Final = (
    "{}",
    "{} please",
    "can you tell me {}",
    "I want to know {}",
    "{} now",
    "I need {}",
)
_SYNONYMS: Final = {
    "find": "search",
    "show": "give",
    "make": "cook",
    "tell": "say",
    "buy": "purchase",
    "near": "close",
    "nearby": "around",
    "big": "large",
    "best": "top",
    "cheap": "inexpensive",
    "movie": "film",
    "movies": "films",
    "restaurant": "diner",
    "restaurants": "diners",
    "start": "begin",
    "get": "fetch",
    "weather": "forecast",
    "recipe": "dish",
    "recipes": "dishes",
    "hotel": "room",
    "price": "cost",
    "mean": "stand",
    "fast": "quick",
    "car": "vehicle",
}


class SimulatedPerson(msgspec.Struct, frozen=True, kw_only=True):
    """How often people say what after an answer: shares of turns, 0 to 1.

    After a wrong answer they `reject` it or `repeat` the question in other words, else they go on:
    that is missed. After a right one they `thank`. `mistaken` is the share in which they do after a
    right answer what is meant for a wrong one, or the other way round.
    """

    reject: float = 0.25
    repeat: float = 0.25
    thank: float = 0.15
    mistaken: float = 0.03

    def reaction(self, right: bool, chance: random.Random) -> Reaction:
        """Return what a person does after a right or wrong answer."""
        if chance.random() < self.mistaken:
            return chance.choice(("rejects", "asks again")) if right else "thanks"
        drawn = chance.random()
        if right:
            return "thanks" if drawn < self.thank else "goes on"
        if drawn < self.reject:
            return "rejects"
        return "asks again" if drawn < self.reject + self.repeat else "goes on"


def said(reaction: Reaction, chance: random.Random) -> str:
    """Return words of thanks or rejection."""
    return chance.choice(_THANKS if reaction == "thanks" else _REJECTIONS)


def reworded(text: str, chance: random.Random) -> str:
    """Return a question in other words: another frame, a word for another, one left out."""
    found = words(text)
    kept = [word for word in found if word not in STOP_WORDS] or found
    if len(kept) > 4 and chance.random() < 0.3:
        kept.pop(chance.randrange(len(kept)))
    places = [place for place, word in enumerate(kept) if word in _SYNONYMS]
    if places:
        place = chance.choice(places)
        kept[place] = _SYNONYMS[kept[place]]
    if len(kept) > 2 and chance.random() < 0.3:
        middle = len(kept) // 2
        kept = kept[middle:] + kept[:middle]
    return chance.choice(_FRAMES).format(" ".join(kept))
