"""AbstentionRule: the assistant's behaviour when no answer is likely to be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.bounds import Share, about
from prolocutor.contracts.pairing import Card, Pairing
from prolocutor.plugins.pairing.question_agent.cards import sentences
from prolocutor.plugins.pairing.risk_curve import RiskCurve

CLARIFY: Final = "clarify"
FALLBACK: Final = "fallback"
PERSON: Final = "person"
_ASK: Final = "I am not sure whom to ask about that. Who should answer?"
_PERSON: Final = "I do not know that. I have asked for a person to take over."
_MAX_CHARACTERS: Final = 120
_NO_ANSWER: Final = 1.01


class AbstentionRule(msgspec.Struct, frozen=True, kw_only=True):
    """The condition under which an assistant abstains from answering, and its substitute."""

    expected: ClassVar[str] = "what to do when nobody knows ({below: ..., then: ...})"

    below: Annotated[
        Share, about("The lowest probability of being right that an answer needs to be spoken.")
    ] = 0.1
    error: Annotated[
        Annotated[float, Meta(gt=0, lt=1)] | None,
        about(
            "In place of `below`: the share of spoken answers that may be wrong. As many are"
            " spoken as keep within it (at 95 % confidence), by the model's risk curve."
        ),
    ] = None
    then: Annotated[
        str,
        about(
            "`fallback`: say that there is no answer. `clarify`: let the person choose an agent,"
            " which gets the original words. `person`: ask for an operator to take over. Any other"
            " name: ask that skill, which is asked in no other case.",
            what="fallback, clarify, person or the name of a skill",
        ),
    ] = FALLBACK
    choices: Annotated[
        int,
        Meta(ge=1, le=20),
        about("`clarify`: how many agents the person can choose from.", unit="choices"),
    ] = 3
    question: Annotated[str, about("`clarify`: the question.", what="a question")] = _ASK
    person: Annotated[str, about("`person`: the reply.")] = _PERSON

    def threshold(self, risks: RiskCurve | None) -> float:
        """Return the least probability of a spoken answer; above 1, no answer is spoken."""
        if self.error is None:
            return self.below
        return _NO_ANSWER if risks is None else risks.threshold(self.error)

    def spoke(self, skill: str, text: str) -> bool:
        """Return whether a reply, maybe cut, comes from this rule."""
        if self.skill is not None:
            return skill == self.skill
        said = {CLARIFY: self.question, PERSON: self.person}.get(self.then, "")
        begins = text.endswith("…") and said.startswith(text[:-1])
        return not skill and bool(said) and (begins or text == said)

    @property
    def skill(self) -> str | None:
        """The skill for turns in which no agent is likely to be right."""
        return None if self.then in (CLARIFY, FALLBACK, PERSON) else self.then


def clarifying_messages(
    unsure: AbstentionRule, routed: Sequence[Pairing], cards: dict[str, Card], words: str
) -> list[dict[str, Any]]:
    """Return the messages of a clarifying question: the likeliest agents as choices, by their
    cards.

    A choice says in `forward` which skill gets the original words.
    """
    likely = [one.agent for one in routed if one.agent in cards][: unsure.choices]
    choices = [
        {
            "type": "choice",
            "title": _title(agent),
            **_told(cards[agent]),
            "forward": {"skill": agent, "text": words},
        }
        for agent in likely
    ]
    return [{"type": "text", "text": unsure.question}, *choices]


def _title(agent: str) -> str:
    return agent.replace("_", " ").strip().capitalize()


def _told(card: Card) -> dict[str, str]:
    first = next(iter(sentences(card.description)), "")
    if len(first) > _MAX_CHARACTERS:
        first = f"{first[: _MAX_CHARACTERS - 1]}…"
    return {"text": first} if first else {}
