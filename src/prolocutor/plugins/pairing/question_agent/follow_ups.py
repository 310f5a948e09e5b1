"""Follow-ups: a question is scored by its own words and, apart from them, by the last whole turn.

All routers of this package that score a text go through `pairings`, so that "what about Texas?"
stays with the agent that answered before, and a new subject leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import msgspec

from prolocutor.contracts.pairing import Pairing, UserQuestion
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.text import STOP_WORDS
from prolocutor.reading.words import words

_OPENERS: Final = (
    "and", "or", "what about", "how about", "and what", "but", "also", "then", "instead", "same",
    "another", "again", "more", "what else", "anything else", "why", "yes", "no", "yeah", "nope",
    "ok", "okay", "sure", "the", "in", "for", "on", "at", "to", "with", "from", "make it",
    "tell me more", "which one", "which of",
)  # fmt: skip
_REFERENCES: Final = frozenset(
    "it that this there them they he she him her his those these one ones its their".split()
)
_VERBS: Final = frozenset(
    "is are was were do does did can could will would should has have tell show give find play set "
    "what who when where why how which book order call buy turn remind".split()
)
_SHORT: Final = 4
_ASKED: Final = 0.9
_OPENED: Final = 0.8
_REFERRED: Final = 0.6
_ELLIPTIC: Final = 0.6
_NOBODY: Final = 0.1
"""What speaks for nobody, beside the agents' probabilities: none leads where all are near 0."""

_LEAST: Final = 0.05


class TextScorer(Protocol):
    """Scores a text without its dialog, by its words and, where `vectors` has it, by its vector.

    `question_texts` are all scored texts of a question.
    """

    @property
    def agents(self) -> Sequence[str]:
        """The names of all agents to choose from."""

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return each agent's probability of being right, in the order of `agents`."""

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
        """Return in a few words why an agent goes with a text."""


@runtime_checkable
class DoubtingScorer(Protocol):
    """A scorer that tries out new agents."""

    def doubts(self) -> dict[str, float]:
        """Return how unsure the probabilities of new agents are, by name."""


def question_texts(question: UserQuestion) -> list[str]:
    """Return the texts of which `pairings` may ask a scorer."""
    texts = [question.text]
    if question.agent_before is not None:
        texts.append(_together(question))
    return [*texts, question.meant] if question.meant else texts


def pairings(
    scorer: TextScorer, question: UserQuestion, vectors: Vectors = NO_VECTORS
) -> list[Pairing]:
    """Return a pairing for each agent, the best first, equal ones in their own order."""

    def score(text: str) -> list[float]:
        return scorer.probabilities(text, vectors)

    found = score(question.text)
    agents = scorer.agents
    share = 0.0
    if question.agent_before is not None and question.agent_before in agents:
        place = agents.index(question.agent_before)
        lead = _lead(found, place) if _says_something(question.text) else 0.0
        share = continuation(question) * (1 - lead)
        if share >= _LEAST:
            found = _mix_turn_before(score(_together(question)), found, place, share)
    if question.meant:
        sure = question.meant_surely
        both = zip(found, score(question.meant), strict=True)
        found = [(1 - sure) * own + sure * meant for own, meant in both]
    order = sorted(range(len(agents)), key=found.__getitem__, reverse=True)
    pairs = [Pairing(agents[n], found[n]) for n in order]
    if pairs:
        best = pairs[0].agent
        stays = share >= _LEAST and best == question.agent_before
        why = "a follow-up" if stays else scorer.reason(question.text, best, vectors)
        pairs[0] = Pairing(best, pairs[0].probability, why)
    if not isinstance(scorer, DoubtingScorer):
        return pairs
    doubts = scorer.doubts()
    return [msgspec.structs.replace(one, doubt=doubts.get(one.agent, 0.0)) for one in pairs]


def continuation(question: UserQuestion) -> float:
    """Return how far an utterance looks as if it went on with the turn before, 0 to 1.

    It reads the form alone: the opening words, references, length, and whether the agent's reply
    was a question.
    """
    if not question.said_before and not question.answered_before:
        return 0.0
    found = words(question.text)
    if not found:
        return _ASKED
    plain = " ".join(found)
    short = len(found) <= _SHORT
    asked = question.answered_before.rstrip().endswith(("?", "？"))
    if asked and short and found[0] not in _VERBS:
        return _ASKED
    if any(plain == one or plain.startswith(f"{one} ") for one in _OPENERS):
        return _OPENED if len(found) <= 2 * _SHORT else _OPENED / 2
    content = [word for word in found if word not in STOP_WORDS]
    if not _REFERENCES.isdisjoint(found) and len(content) <= _SHORT - 1:
        return _REFERRED
    if short and _VERBS.isdisjoint(found):
        return _ELLIPTIC
    return _ELLIPTIC / 2 if asked else 0.0


def _says_something(text: str) -> bool:
    return any(word not in STOP_WORDS for word in words(text))


def _lead(found: Sequence[float], place: int) -> float:
    """Return how clearly the words speak for others than the agent before, 0 to 1."""
    others = max((p for n, p in enumerate(found) if n != place), default=0.0)
    if others <= found[place]:
        return 0.0
    dominance = (others - found[place]) / (sum(found) + _NOBODY)
    return min(1.0, max(others - found[place], dominance) * 1.5)


def _mix_turn_before(
    together: Sequence[float], alone: Sequence[float], place: int, share: float
) -> list[float]:
    found = [
        (1 - share) * own + share * (own + both) / 2
        for own, both in zip(alone, together, strict=True)
    ]
    found[place] = (1 - share) * alone[place] + share * max(
        0.5 * (1 + together[place]), *alone, *together
    )
    return found


def _together(question: UserQuestion) -> str:
    return f"{question.said_before} {question.text}"
