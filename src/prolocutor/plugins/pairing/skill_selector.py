"""RoutedSelector: a skill selector by question-agent pairing, within a budget.

The routing of a turn is computed once for all selectors (`TurnRouting`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from inspect import iscoroutinefunction
from math import inf
from time import monotonic
from typing import Any, Final

import msgspec

from prolocutor.clocks import MINUTE
from prolocutor.contracts.observer import LoggedChoice
from prolocutor.contracts.pairing import AgentAnswer, Card, Pairing, Ranker, Router, UserQuestion
from prolocutor.contracts.selection import Enough, Selection
from prolocutor.dialog.rounds import read_follow_up
from prolocutor.plugins.pairing.abstention import AbstentionRule
from prolocutor.plugins.pairing.budget import AgentOffer, Budget, BudgetState, BudgetStep
from prolocutor.plugins.pairing.calibration import Sigmoid, logit
from prolocutor.plugins.pairing.method_catalog import await_result
from prolocutor.plugins.pairing.model_reloading import MethodSource, latest
from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker

WINDOW: Final = 3
"""Utterances that a question is made of: the last whole turn, and the new input."""

_TURNS: Final = 1000
"""Turns whose routing is remembered."""

_PLAIN = Sigmoid()

_SHOWN: Final = 3


def read_question(state: Mapping[str, Any]) -> UserQuestion:
    """Return the question of a turn; `state` is agent state JSON."""
    *before, said = state["utterances"]
    words = said.get("orig_text") or said["text"]
    if len(before) < 2 or "active_skill" not in before[-1]:
        return UserQuestion(text=words)
    found = read_follow_up(said.get("annotations") or {})
    asked, replied = before[-2:]
    return UserQuestion(
        text=words,
        said_before=asked["text"],
        answered_before=replied["text"],
        agent_before=replied["active_skill"],
        meant="" if found is None else found.text,
        meant_surely=0.0 if found is None else min(1.0, max(0.0, found.confidence)),
    )


def answers_of(hypotheses: Sequence[Mapping[str, Any]]) -> list[AgentAnswer]:
    """Return hypotheses as answers, in their order."""
    return [
        AgentAnswer(
            agent=hypothesis_slot(one), text=one["text"], confidence=float(one["confidence"])
        )
        for one in hypotheses
    ]


def hypothesis_slot(hypothesis: Mapping[str, Any]) -> str:
    """Return the slot of a hypothesis: the skill's name in the assistant, not its own claim."""
    return str(hypothesis["hypothesis_id"]).rpartition(".")[0]


class RoutingResult(msgspec.Struct, frozen=True):
    """The pairings of a turn, the best first, and the version of the router."""

    pairings: Sequence[Pairing]
    version: str

    @property
    def faults(self) -> list[str]:
        """What went wrong in routing."""
        return [one.fault for one in self.pairings[:1] if one.fault]

    @property
    def prior(self) -> dict[str, float]:
        """The probabilities by agent."""
        return {one.agent: one.probability for one in self.pairings}


class TurnRouting:
    """Routes each turn once for all selectors: a chat endpoint would cost twice.

    Results of the latest 1,000 turns are cached by turn id.
    """

    def __init__(self, router: MethodSource[Router]) -> None:
        self._router: MethodSource[Router] = router
        self._known: dict[str, RoutingResult] = {}

    def known_result(self, request: Mapping[str, Any]) -> RoutingResult | None:
        """Return the cached result of a turn, or None."""
        return self._known.get(str(request.get("turn_id", "")))

    async def route_turn(self, request: Mapping[str, Any]) -> RoutingResult:
        """Return the routing result of the turn of `request`."""
        turn = str(request.get("turn_id", ""))
        if (known := self.known_result(request)) is not None:
            return known
        router: Any = latest(self._router)
        pairings = await await_result(router.method.route(read_question(request)))
        routed = RoutingResult(
            _replace_agents(pairings, request.get("instead") or {}), router.version
        )
        if turn:
            self._known[turn] = routed
            if len(self._known) > _TURNS:
                del self._known[next(iter(self._known))]
        return routed


class RoutingInUse:
    """The routing of a turn by one of several routers, as one may be tried out on some people."""

    def __init__(self, routings: Sequence[TurnRouting]) -> None:
        self._routings = routings

    async def route_turn(self, request: Mapping[str, Any]) -> RoutingResult:
        """Return the routing result of a turn; where no router was asked, the first one is."""
        for one in self._routings:
            if (known := one.known_result(request)) is not None:
                return known
        return await self._routings[0].route_turn(request)


def _replace_agents(
    pairings: Sequence[Pairing], instead: Mapping[str, str | None]
) -> Sequence[Pairing]:
    """Return pairings of the turn's agents.

    A stand-in gets the pairing of the replaced agent, so both get the same questions;
    its own pairing does not count.
    """
    if not instead:
        return pairings
    standing_in = {*instead.values()}
    placed: list[Pairing] = []
    for one in pairings:
        name = instead.get(one.agent, one.agent)
        if name is not None and (one.agent in instead or name not in standing_in):
            placed.append(one if name == one.agent else msgspec.structs.replace(one, agent=name))
    return placed


class Quotas:
    """Counts the calls of the last minute, by agent; agents without a quota are not counted."""

    def __init__(self, quotas: Mapping[str, int], clock: Callable[[], float] = monotonic) -> None:
        self._quotas = dict(quotas)
        self._clock = clock
        self._calls: dict[str, deque[float]] = {agent: deque() for agent in quotas}

    def left(self, agent: str) -> int | None:
        """Return how many calls an agent has left in this minute; None without a quota."""
        if agent not in self._quotas:
            return None
        calls, now = self._calls[agent], self._clock()
        while calls and calls[0] <= now - MINUTE:
            calls.popleft()
        return max(0, self._quotas[agent] - len(calls))

    def called(self, agent: str) -> None:
        """Count a call."""
        if agent in self._quotas:
            self._calls[agent].append(self._clock())


class RoutedSelector:
    """Calls a router's agents, for as long as a budget allows.

    `ranker` judges the answers so far without waiting, because the next wave is chosen at once: one
    that asks an encoder does without it here, other async ones are replaced by the unsupervised
    one. Skills without a card in `cards` are never called.
    `unsure` names the skill to ask when no answer is likely to be right, and only then.
    `seconds` is how long skills have in a turn. A new agent is asked as if it were as good as it
    may well be (an upper confidence bound), unless one agent alone is asked: nobody judges its
    answer.
    """

    def __init__(
        self,
        routing: TurnRouting,
        cards: Sequence[Card],
        budget: Budget,
        *,
        ranker: MethodSource[Ranker] | None = None,
        unsure: AbstentionRule | None = None,
        seconds: float = inf,
    ) -> None:
        self._routing = routing
        self._budget = budget
        self._ranker: MethodSource[Ranker] = UnsupervisedRanker() if ranker is None else ranker
        self._stand_in = UnsupervisedRanker()
        self._unsure = unsure or AbstentionRule(below=0.0)
        self._cards = {card.name: card for card in cards if card.name != self._unsure.skill}
        quota = {card.name: card.quota for card in cards if card.quota is not None}
        self._quotas = Quotas(quota)
        self._hopes = not budget.asks_one
        self._seconds = seconds

    async def __call__(self, request: Mapping[str, Any]) -> Selection:
        """Return the agents to call at once, and the function for choosing further agents."""
        question, judge = read_question(request), self._judge()
        routed = await self._routing.route_turn(request)
        prior = routed.prior
        likely = [one for one in routed.pairings if one.agent in self._cards]
        offers = [self._offer(one) for one in likely]
        first = self._budget.next(BudgetState(offers=offers, seconds_left=self._seconds))
        asked = {*first.ask, *self._continuing_skills(request)}
        self._count(asked)

        def more(
            hypotheses: list[dict[str, Any]], seconds_left: float, settled: Collection[str]
        ) -> Selection | Enough | None:
            known = _judge_hypotheses(judge, question, hypotheses, prior)
            standing = BudgetState(
                offers=offers,
                answered={name: known.get(name, 0.0) for name in settled},
                running=frozenset(asked - set(settled)),
                seconds_left=seconds_left,
            )
            step = self._budget.next(standing)
            if step.enough:
                return self._last(standing.best, asked, step)
            self._count(step.ask)
            asked.update(step.ask)
            return Selection(list(step.ask), reason=step.reason) if step.ask else None

        reason = f"{first.reason} ({_explain(likely, routed)})"
        choices = _log_choices(first.ask, likely)
        return Selection(list(first.ask), more, reason, routed.version, routed.faults, choices)

    def _judge(self) -> Ranker:
        """Return a ranker without waits: the own, its `at_once`, or the unsupervised ranker."""
        ranker: Ranker = latest(self._ranker).method
        if not iscoroutinefunction(ranker.rank):
            return ranker
        at_once: Ranker = getattr(ranker, "at_once", self._stand_in)
        return at_once

    def _continuing_skills(self, request: Mapping[str, Any]) -> list[str]:
        """Name the skill that goes on, which the engine asks in any case."""
        skill = request.get("preferred")
        return [skill] if skill in self._cards else []

    def _offer(self, routed: Pairing) -> AgentOffer:
        card, prior = self._cards[routed.agent], routed.probability
        if routed.doubt > 0 and self._hopes:
            prior = _PLAIN(logit(prior) + routed.doubt)
        return AgentOffer(
            agent=card.name,
            prior=prior,
            price=card.price or 0.0,
            latency=card.latency or 0.0,
            left=self._quotas.left(card.name),
        )

    def _last(self, best: float, asked: set[str], step: BudgetStep) -> Selection | Enough:
        """Return `enough`, unless no agent knows and there is a skill for that case."""
        skill = self._unsure.skill
        least = self._unsure.threshold(latest(self._ranker).risks)
        if skill is None or skill in asked or best >= least:
            return Enough(step.reason)
        asked.add(skill)
        reason = f"{step.reason}; the best answer is right with {best:.2f} < {least:g}"
        return Selection([skill], reason=reason)

    def _count(self, agents: Iterable[str]) -> None:
        for agent in agents:
            self._quotas.called(agent)


def _log_choices(asked: Iterable[str], likely: Sequence[Pairing]) -> list[LoggedChoice]:
    """Return who is asked at first; chance has no part in it."""
    own = {one.agent: round(one.probability, 4) for one in likely}
    return [
        LoggedChoice(service="router", chosen=agent, probability=1.0, score=own.get(agent))
        for agent in asked
    ]


def _judge_hypotheses(
    judge: Ranker, question: UserQuestion, hypotheses: list[dict[str, Any]], prior: dict[str, float]
) -> dict[str, float]:
    """Return the probability of the best answer of each agent."""
    best: dict[str, float] = {}
    ranked = judge.rank(question, answers_of(hypotheses), prior)
    assert not isinstance(ranked, Awaitable)
    for one in ranked:
        best.setdefault(one.agent, one.probability)
    return best


def _explain(likely: Sequence[Pairing], routed: RoutingResult) -> str:
    """Return which agents were likeliest, why the first, and by which model."""
    if not likely:
        return "nobody is there to ask"
    names = ", ".join(f"{one.agent} {one.probability:.2f}" for one in likely[:_SHOWN])
    return "; ".join(filter(None, (names, likely[0].reason, routed.version)))
