"""RankedSelector: a response selector by question-response pairing, which may abstain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from prolocutor.contracts.pairing import Card, Pairing, Question, Ranker, Router
from prolocutor.pairing.dialog_view import answers_of, given, question_of, slot_of
from prolocutor.pairing.unsure import CLARIFY, Unsure, clarifying

Reply = dict[str, Any]

PREFERENCE: Final = 0.15
"""By how much another answer must be likelier than that of the skill that goes on."""


class RankedSelector:
    """Says the answer that a ranker puts first; the reply's attribute `pairing` tells why.

    `request["preferred"]` names the skill that goes on, `request["forced"]` the one that had to be
    asked and so speaks in any case. `router` gives the ranker its prior. `unsure` is what happens
    when no answer is likely to be right: null (nobody knows), a clarifying question, or the word of
    one skill. `methods` (name -> version of its model) is kept with the reply.
    """

    def __init__(
        self,
        ranker: Ranker,
        cards: Sequence[Card] = (),
        *,
        router: Router | None = None,
        unsure: Unsure | None = None,
        methods: Mapping[str, str] | None = None,
    ) -> None:
        self._ranker = ranker
        self._router = router
        self._cards = {card.name: card for card in cards}
        self._unsure = unsure or Unsure(below=0.0)
        self._methods = dict(methods or {})

    async def __call__(self, request: Mapping[str, Any]) -> Reply | None:
        """Choose one of the hypotheses, or none."""
        question = question_of(request)
        hypotheses = request["hypotheses"]
        routed = await self._routed(question)
        prior = {one.agent: one.probability for one in routed}
        known = [one for one in hypotheses if slot_of(one) != self._unsure.skill]
        ranked = await given(self._ranker.rank(question, answers_of(known), prior))
        ranked = _preferring(request.get("preferred"), ranked)
        sure = bool(ranked) and ranked[0].probability >= self._unsure.below
        if ranked and (sure or "forced" in request):
            return self._reply(_meant(ranked[0], known), ranked)
        return self._abstain(question, hypotheses, routed, ranked)

    def _abstain(
        self,
        question: Question,
        hypotheses: Sequence[dict[str, Any]],
        routed: Sequence[Pairing],
        ranked: Sequence[Pairing],
    ) -> Reply | None:
        unsure = self._unsure
        own = [one for one in hypotheses if slot_of(one) == unsure.skill]
        if own:
            return self._reply(own[0], ranked, "no answer is likely to be right")
        if unsure.then == CLARIFY:
            messages = clarifying(unsure, routed or ranked, self._cards, question.text)
            if len(messages) > 1:
                return {
                    "skill_name": "",
                    "text": unsure.question,
                    "confidence": 0.0,
                    "messages": messages,
                    "ask": "choice",
                    "attributes": {
                        "pairing": self._told(ranked, "no answer is likely to be right")
                    },
                }
        return None

    def _reply(
        self, hypothesis: Mapping[str, Any], ranked: Sequence[Pairing], reason: str | None = None
    ) -> Reply:
        told = self._told(ranked, ranked[0].reason if reason is None else reason)
        return {
            "skill_name": slot_of(hypothesis),
            "hypothesis": hypothesis["hypothesis_id"],
            "text": hypothesis["text"],
            "confidence": ranked[0].probability if reason is None else hypothesis["confidence"],
            "attributes": {**(hypothesis.get("attributes") or {}), "pairing": told},
        }

    def _told(self, ranked: Sequence[Pairing], reason: str) -> dict[str, Any]:
        order = [[one.agent, round(one.probability, 4)] for one in ranked]
        return {**self._methods, "reason": reason, "ranked": order}

    async def _routed(self, question: Question) -> Sequence[Pairing]:
        return [] if self._router is None else await given(self._router.route(question))


def _preferring(skill: str | None, ranked: Sequence[Pairing]) -> Sequence[Pairing]:
    """Put the best answer of the skill that goes on first, unless another is clearly better."""
    own = next((one for one in ranked if one.agent == skill), None)
    if own is None or ranked[0].probability > own.probability + PREFERENCE:
        return ranked
    return [own, *(one for one in ranked if one is not own)]


def _meant(pairing: Pairing, hypotheses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    own = [one for one in hypotheses if slot_of(one) == pairing.agent]
    return own[pairing.position]
