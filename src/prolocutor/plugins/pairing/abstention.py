"""AbstentionRule: the assistant's behaviour when no answer is likely to be right.

How often a ranker's sure answers are wrong is counted by folds over all questions (`RiskCurve`).
Thresholds are tried from the surest down, and the first that cannot be shown to keep within the
wanted error ends the search (fixed-sequence testing, as in Learn then Test, Angelopoulos et al.
2021): so the bound (95 %, Clopper and Pearson 1934) holds for the one that is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, log
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.bounds import Share, about
from prolocutor.contracts.pairing import Card, Pairing
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.model_files import Model
from prolocutor.plugins.pairing.question_agent.cards import sentences

_PART: Final = "risks"
"""The part of a ranker's model that holds its curve."""

_THRESHOLDS: Final = tuple(n / 50 for n in range(49, 0, -1))
_DOUBT: Final = 0.05
_ROOM: Final = 2
"""The search begins at so many times the answers for which a promise is possible without errors."""

_NO_ANSWER: Final = 1.01
"""A threshold that no probability reaches."""

CLARIFY: Final = "clarify"
FALLBACK: Final = "fallback"
PERSON: Final = "person"
_ASK: Final = "I am not sure whom to ask about that. Who should answer?"
_PERSON: Final = "I do not know that. I have asked for a person to take over."
_MAX_CHARACTERS: Final = 120


class RiskPoint(msgspec.Struct, frozen=True):
    """A threshold, how many questions were answered with it or more, and how many wrongly.

    `bound` is the upper bound of the share of wrong answers.
    """

    threshold: float
    answered: int
    wrong: int
    bound: float


class RiskCurve(msgspec.Struct, frozen=True):
    """Errors by threshold, the highest first, over `questions`."""

    points: list[RiskPoint]
    questions: int

    def threshold(self, error: float) -> float:
        """Return the lowest threshold with at most a share of wrong answers, surely.

        It is above 1, so that nothing is answered, if no threshold does.
        """
        least = _ROOM * ceil(log(_DOUBT) / log(1 - error)) if 0 < error < 1 else 1
        found = _NO_ANSWER
        for point in self.points:
            if point.answered < least:
                continue
            if point.bound > error:
                break
            found = point.threshold
        return found


def upper_bound(wrong: int, number: int) -> float:
    """Return the upper bound (95 %) of the share of wrong answers, after `wrong` of `number`."""
    from scipy.special import betaincinv

    return 1.0 if wrong >= number else float(betaincinv(wrong + 1, number - wrong, 1 - _DOUBT))


def risk_curve(choices: Iterable[tuple[float, float]]) -> RiskCurve:
    """Count choices, each with its probability and whether it is right (more than 0)."""
    seen = list(choices)
    points = []
    for threshold in _THRESHOLDS:
        given = [right > 0 for probability, right in seen if probability >= threshold]
        wrong = given.count(False)
        points.append(RiskPoint(threshold, len(given), wrong, upper_bound(wrong, len(given))))
    return RiskCurve(points, len(seen))


def stored_risk_curve(model: Model) -> RiskCurve | None:
    """Return a model's curve, None if the model has no curve."""
    if _PART not in model.parts:
        return None
    try:
        return msgspec.convert(model.parts[_PART], RiskCurve)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"the model {model.id} has no curve of {_PART} ({error}); train it again"
        ) from None


def store_risk_curve(model: Model, curve: RiskCurve) -> Model:
    """Return a model with its curve."""
    return msgspec.structs.replace(model, parts=model.parts | {_PART: msgspec.to_builtins(curve)})


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
