"""RankedSelector: a response selector by question-response pairing, which may abstain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import Card, Pairing, Ranker, UserQuestion
from prolocutor.plugins.pairing.abstention import (
    CLARIFY,
    PERSON,
    AbstentionRule,
    clarifying_messages,
)
from prolocutor.plugins.pairing.method_catalog import await_result
from prolocutor.plugins.pairing.model_reloading import MethodSource, VersionedMethod, latest
from prolocutor.plugins.pairing.skill_selector import (
    RoutingInUse,
    RoutingResult,
    TurnRouting,
    answers_of,
    hypothesis_slot,
    read_question,
)

Reply = dict[str, Any]

_NO_RIGHT_ANSWER: Final = "no answer is likely to be right"

PREFERENCE: Final = 0.15
"""By how much another answer must be likelier than that of the preferred skill."""


class RankedSelector:
    """Replies with a ranker's first answer; the reply's attribute `pairing` says why.

    `request["preferred"]` names the skill that goes on, `request["forced"]` the skill that had to
    be asked and so speaks in any case. `routing` gives the ranker its prior. `unsure` is the rule
    for no likely answer: abstain, ask a clarifying question, or take the answer of a fixed skill.
    The attribute has the versions of router and ranker too.
    """

    def __init__(
        self,
        ranker: MethodSource[Ranker],
        cards: Sequence[Card] = (),
        *,
        routing: TurnRouting | RoutingInUse | None = None,
        unsure: AbstentionRule | None = None,
    ) -> None:
        self._ranker: MethodSource[Ranker] = ranker
        self._routing = routing
        self._cards = {card.name: card for card in cards}
        self._unsure = unsure or AbstentionRule(below=0.0)

    @property
    def may_abstain(self) -> bool:
        """Whether any answer is too unlikely to be right."""
        return self._unsure.below > 0 or self._unsure.error is not None

    def is_abstention(self, skill: str, text: str) -> bool:
        """Return whether a reply, maybe cut, comes from the rule for no likely answer."""
        return self._unsure.spoke(skill, text)

    async def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Choose one of the hypotheses, or abstain."""
        question, hypotheses = read_question(request), request["hypotheses"]
        ranker: VersionedMethod[Ranker] = latest(self._ranker)
        routed = await self._routing_result(request)
        known = [one for one in hypotheses if hypothesis_slot(one) != self._unsure.skill]
        ranked = await await_result(ranker.method.rank(question, answers_of(known), routed.prior))
        faults = [one.fault for one in ranked if one.fault]
        ranked = _preferring(request.get("preferred"), ranked)
        details = _ChoiceDetails(ranked, routed, ranker.version, _scores(ranked, known))
        least = self._unsure.threshold(ranker.risks)
        reply = self._choose(request, question, known, details, least)
        return {**reply, "faults": faults} if faults else reply

    def _choose(
        self,
        request: Mapping[str, Any],
        question: UserQuestion,
        known: Sequence[dict[str, Any]],
        details: _ChoiceDetails,
        least: float,
    ) -> Reply:
        ranked, hypotheses = details.ranked, request["hypotheses"]
        sure = bool(ranked) and ranked[0].probability >= least
        if ranked and (sure or "forced" in request):
            best = ranked[0]
            return _reply(_meant(best, known), best.probability, details.because(best.reason))
        own = next((one for one in hypotheses if hypothesis_slot(one) == self._unsure.skill), None)
        if own is not None:
            return _reply(own, own["confidence"], details.because(_NO_RIGHT_ANSWER))
        if self._unsure.then == PERSON:
            return _own_reply(self._unsure.person, details, wants_person=_NO_RIGHT_ANSWER)
        asking = self._clarifying(question, details) if self._unsure.then == CLARIFY else None
        return asking or {"abstain": True}

    def _clarifying(self, question: UserQuestion, details: _ChoiceDetails) -> Reply | None:
        """Ask the person to choose an agent, if there is more than one."""
        likely = details.routed.pairings or details.ranked
        messages = clarifying_messages(self._unsure, likely, self._cards, question.text)
        if len(messages) <= 2:
            return None
        return {**_own_reply(self._unsure.question, details), "messages": messages, "ask": "choice"}

    async def _routing_result(self, request: Mapping[str, Any]) -> RoutingResult:
        """Return the router's result, unless a skill had to be asked regardless of it."""
        if self._routing is None or "forced" in request:
            return RoutingResult((), "")
        return await self._routing.route_turn(request)


class _ChoiceDetails(msgspec.Struct, frozen=True):
    """The recorded details of a choice, beside its reason."""

    ranked: Sequence[Pairing]
    routed: RoutingResult
    ranker: str
    scores: dict[str, float]

    def because(self, reason: str) -> dict[str, Any]:
        """Return the reply's attribute `pairing`."""
        versions = {"router": self.routed.version, "ranker": self.ranker}
        order = [[one.agent, round(one.probability, 4)] for one in self.ranked]
        named = {role: version for role, version in versions.items() if version}
        details: dict[str, Any] = {**named, "reason": reason, "ranked": order}
        if any(one.position for one in self.ranked):
            details["scores"] = self.scores
        return details


def _own_reply(text: str, details: _ChoiceDetails, **attributes: str) -> Reply:
    """Return a reply that no skill gave."""
    because = {"pairing": details.because(_NO_RIGHT_ANSWER), **attributes}
    return {"skill_name": "", "text": text, "confidence": 0.0, "attributes": because}


def _reply(hypothesis: Mapping[str, Any], confidence: float, details: dict[str, Any]) -> Reply:
    return {
        "skill_name": hypothesis_slot(hypothesis),
        "hypothesis": hypothesis["hypothesis_id"],
        "text": hypothesis["text"],
        "confidence": confidence,
        "attributes": {**(hypothesis.get("attributes") or {}), "pairing": details},
    }


def _preferring(skill: str | None, ranked: Sequence[Pairing]) -> Sequence[Pairing]:
    """Put the best answer of the preferred skill first, unless another answer is clearly better."""
    own = next((one for one in ranked if one.agent == skill), None)
    if own is None or ranked[0].probability > own.probability + PREFERENCE:
        return ranked
    return [own, *(one for one in ranked if one is not own)]


def _scores(ranked: Sequence[Pairing], hypotheses: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the probabilities by the id of the hypothesis."""
    return {_meant(one, hypotheses)["hypothesis_id"]: round(one.probability, 4) for one in ranked}


def _meant(pairing: Pairing, hypotheses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    own = [one for one in hypotheses if hypothesis_slot(one) == pairing.agent]
    return own[pairing.position]
