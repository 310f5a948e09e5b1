"""RoutedSelector: a skill selector by question-agent pairing, within a budget."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any, Final

from prolocutor.contracts.pairing import Card, Pairing, Question, Ranker, Router
from prolocutor.contracts.selection import Enough, Selection
from prolocutor.pairing.budget import Offer, Policy, Standing, Step
from prolocutor.pairing.dialog_view import answers_of, given, question_of
from prolocutor.pairing.question_response.unsupervised import Unsupervised
from prolocutor.pairing.quotas import Quotas
from prolocutor.pairing.unsure import Unsure

_SHOWN: Final = 3


class RoutedSelector:
    """Asks whom a router names, as far as a policy of the budget goes on asking.

    `ranker` judges the answers so far; one that has to wait is stood in for by the label-free one,
    as a wave must be chosen at once. Skills without a card in `cards` are never asked. `unsure`
    names the skill that is asked when no answer is likely to be right, and only then.
    """

    def __init__(
        self,
        router: Router,
        cards: Sequence[Card],
        policy: Policy,
        *,
        ranker: Ranker | None = None,
        unsure: Unsure | None = None,
        quotas: Quotas | None = None,
        least_priors: Mapping[str, float] | None = None,
    ) -> None:
        self._router = router
        self._policy = policy
        waits = ranker is None or iscoroutinefunction(ranker.rank)
        self._judge: Ranker = Unsupervised() if waits or ranker is None else ranker
        self._unsure = unsure or Unsure(below=0.0)
        self._cards = {card.name: card for card in cards if card.name != self._unsure.skill}
        quota = {card.name: card.quota for card in cards if card.quota is not None}
        self._quotas = quotas or Quotas(quota)
        self._least_priors = least_priors or {}

    async def __call__(self, request: Mapping[str, Any]) -> Selection:
        """Choose whom to ask at once, and how to go on."""
        question = question_of(request)
        routed = [one for one in await given(self._router.route(question)) if self._has(one)]
        prior = {one.agent: one.probability for one in routed}
        offers = [self._offer(one) for one in routed]
        first = self._policy.next(Standing(offers=offers))
        asked = set(first.ask)
        self._count(first)

        def more(
            hypotheses: list[dict[str, Any]], seconds_left: float, settled: Collection[str]
        ) -> Selection | Enough | None:
            known = self._judged(question, hypotheses, prior)
            standing = Standing(
                offers=offers,
                answered={name: known.get(name, 0.0) for name in settled},
                running=frozenset(asked - set(settled)),
                seconds_left=seconds_left,
            )
            step = self._policy.next(standing)
            if step.enough:
                return self._last(standing.best, asked, step)
            self._count(step)
            asked.update(step.ask)
            return Selection(list(step.ask), reason=step.reason) if step.ask else None

        return Selection(list(first.ask), more, f"{first.reason} ({_shown(routed)})")

    def _has(self, pairing: Pairing) -> bool:
        return pairing.agent in self._cards

    def _offer(self, routed: Pairing) -> Offer:
        card = self._cards[routed.agent]
        return Offer(
            agent=card.name,
            prior=routed.probability,
            price=card.price or 0.0,
            latency=card.latency or 0.0,
            left=self._quotas.left(card.name),
            least_prior=self._least_priors.get(card.name, 0.0),
        )

    def _judged(
        self, question: Question, hypotheses: list[dict[str, Any]], prior: dict[str, float]
    ) -> dict[str, float]:
        """Give the probability of the best answer of each agent."""
        best: dict[str, float] = {}
        ranked = self._judge.rank(question, answers_of(hypotheses), prior)
        assert not isinstance(ranked, Awaitable)
        for one in ranked:
            best.setdefault(one.agent, one.probability)
        return best

    def _last(self, best: float, asked: set[str], step: Step) -> Selection | Enough:
        """It is enough, unless nobody knows and somebody is there for that."""
        skill = self._unsure.skill
        if skill is None or skill in asked or best >= self._unsure.below:
            return Enough(step.reason)
        asked.add(skill)
        reason = f"{step.reason}; the best answer is right with {best:.2f} < {self._unsure.below:g}"
        return Selection([skill], reason=reason)

    def _count(self, step: Step) -> None:
        for agent in step.ask:
            self._quotas.called(agent)


def _shown(routed: Sequence[Pairing]) -> str:
    """Tell who was likeliest, with the reason for the first."""
    likely = ", ".join(f"{one.agent} {one.probability:.2f}" for one in routed[:_SHOWN])
    why = routed[0].reason if routed else ""
    return f"{likely}; {why}" if why else likely or "nobody is there to ask"
