"""Agent cards as text: the sentences and examples that a question is compared with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log
from typing import Final

from prolocutor.contracts.pairing import Card
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.text import content_stems, stem

_END: Final = re.compile(r"(?<=[.!?;。！？])\s*(?=[^\s\d.!?;])|\n+")
_APART: Final = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def sentences(text: str) -> list[str]:
    """Cut a description into sentences; those without a word are left out."""
    return [part.strip() for part in _END.split(text) if any(map(str.isalnum, part))]


def documents(card: Card) -> list[str]:
    """Return the sentences of a card's description, then its examples."""
    return [*sentences(card.description), *card.examples]


def name_stems(name: str) -> list[str]:
    """Return the stems of an agent's name: `task_manager` and `TaskManager` are two words."""
    return [stem(part.lower()) for part in _APART.split(name) if part]


def spoken_name(name: str) -> str:
    """Return an agent's name as words."""
    return " ".join(filter(None, _APART.split(name)))


def breadth(card: Card) -> float:
    """Return how much an agent claims to know.

    It is the log of how many different words its card uses, times the share of those among all:
    what is said in the same words again claims little more.
    """
    stems = [one for text in documents(card) for one in content_stems(text)]
    return log(1 + len(set(stems)) ** 2 / (len(stems) or 1))


def checked(cards: Sequence[Card]) -> list[Card]:
    """Return the cards; `BadInput` if two have one name or there are none."""
    names = [card.name for card in cards]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"two agents are named {twice!r}", field="cards")
    if not names:
        raise BadInput("there is no agent to choose from", field="cards")
    return list(cards)
