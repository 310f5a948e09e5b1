"""Budgets: which agents to call next, and when to stop.

A policy is a pure function of a `BudgetState`. It reads no clock and calls no agent, so live turns
(`Selection.more`) and recorded answers use the same policies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec


class AgentOffer(msgspec.Struct, frozen=True, kw_only=True):
    """An agent to call: the router's probability, and the cost of a call.

    `price` of a call in any one currency, `latency` in seconds, `left` calls of its quota (None:
    no quota), `least_prior` under which it is never asked.
    """

    agent: str
    prior: float
    price: float = 0.0
    latency: float = 0.0
    left: int | None = None
    least_prior: float = 0.0


class BudgetState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a turn: the agents to call, and the calls so far.

    `answered` maps each settled agent to the probability of its best answer, 0 after a
    failure. `running` agents have been called and have not settled.
    """

    offers: Sequence[AgentOffer]
    answered: Mapping[str, float] = {}
    running: frozenset[str] = frozenset()
    seconds_left: float = float("inf")

    @property
    def best(self) -> float:
        """The probability of the best answer so far."""
        return max(self.answered.values(), default=0.0)

    @property
    def begun(self) -> bool:
        """Whether any agent has been called."""
        return bool(self.answered or self.running)

    def open(self) -> list[AgentOffer]:
        """Return the agents with time to be called and to answer, the likeliest first."""
        return sorted(
            (
                offer
                for offer in self.offers
                if offer.agent not in self.answered
                and offer.agent not in self.running
                and offer.latency < self.seconds_left
                and offer.left != 0
                and offer.prior >= offer.least_prior
            ),
            key=lambda offer: -offer.prior,
        )


class BudgetStep(msgspec.Struct, frozen=True):
    """The next step: call the agents `ask`; if empty, wait, or stop where `enough`; and why."""

    ask: tuple[str, ...] = ()
    enough: bool = False
    reason: str = ""


class BudgetPolicy(Protocol):
    """Decides which agents are called next."""

    def next(self, state: BudgetState) -> BudgetStep:
        """Decide; called at the start of a turn and whenever an agent has settled."""


class AskAll(msgspec.Struct, frozen=True):
    """Calls all agents at once and waits for them."""

    def next(self, state: BudgetState) -> BudgetStep:
        """Ask all at first."""
        if not state.begun:
            return _ask(state.open(), "everybody is asked")
        return _wait_or_end(state, "everybody has answered")


class TopK(msgspec.Struct, frozen=True):
    """Asks the `k` likeliest at once."""

    k: int = 3

    def next(self, state: BudgetState) -> BudgetStep:
        """Ask the likeliest at first."""
        if not state.begun:
            return _ask(state.open()[: self.k], f"the {self.k} likeliest are asked")
        return _wait_or_end(state, f"the {self.k} likeliest have answered")


class UntilSure(msgspec.Struct, frozen=True):
    """Calls `start` agents at once, then one by one until the best answer is sure enough.

    The next agent is called when all others have settled. An answer with a probability of `certain`
    or more ends the turn while agents still run. `most` bounds the calls of a turn.
    """

    sure: float = 0.3
    certain: float = 0.6
    start: int = 2
    step: int = 1
    most: int | None = None

    def next(self, state: BudgetState) -> BudgetStep:
        """Call the first agents, call the next agents, or stop."""
        best = state.best
        enough = self.certain if state.running else self.sure
        if state.answered and best >= enough:
            return BudgetStep(enough=True, reason=f"an answer is right with {best:.2f} >= {enough}")
        if state.running:
            return BudgetStep(reason="others are still answering")
        calls = len(state.answered)
        count = self.step if state.begun else self.start
        if self.most is not None:
            count = min(count, self.most - calls)
        chosen = state.open()[: max(0, count)]
        if not chosen:
            return BudgetStep(enough=True, reason=f"nobody is left to ask after {calls} calls")
        if not state.begun:
            return _ask(chosen, f"the {len(chosen)} likeliest are asked")
        return _ask(chosen, f"the best answer is right with {best:.2f} < {self.sure}")


class ExpectedGain(msgspec.Struct, frozen=True):
    """Asks the agent of the largest gain for its cost, as long as the gain is worth the cost.

    The gain of a call is the probability that the agent is right and the best answer so far is not,
    times `value`, the worth of a right answer in the currency of the prices. The cost is
    `per_call`, plus the price, plus the latency times `per_second`; where a quota is short it is
    dearer. The first `start` are called at once, and no agent after an answer with a probability of
    `sure` or more.
    """

    value: float = 1.0
    per_call: float = 0.1
    per_second: float = 0.0
    sure: float = 0.4
    start: int = 1
    most: int | None = None

    def next(self, state: BudgetState) -> BudgetStep:
        """Call the agents of the largest gain, or stop where no call is worth its cost."""
        if state.running:
            return BudgetStep(reason="others are still answering")
        if state.answered and state.best >= self.sure:
            reason = f"an answer is right with {state.best:.2f} >= {self.sure}"
            return BudgetStep(enough=True, reason=reason)
        rest = updated_priors(state)
        worth = sorted(
            ((self._gain(offer, rest, state.best), offer) for offer in state.open()),
            key=lambda pair: -pair[0] / self.cost(pair[1]),
        )
        count = 1 if state.begun else self.start
        if self.most is not None:
            count = min(count, self.most - len(state.answered))
        chosen = [offer for gain, offer in worth if gain >= self.cost(offer)][: max(0, count)]
        if not state.begun and not chosen and worth:
            chosen = [worth[0][1]]
        if not chosen:
            return BudgetStep(enough=True, reason="no further call is worth its cost")
        gain = next(gain for gain, offer in worth if offer is chosen[0])
        return _ask(chosen, f"a gain of {gain:.3f} for a cost of {self.cost(chosen[0]):.3f}")

    def cost(self, offer: AgentOffer) -> float:
        """Return the cost of a call, in the currency of the prices."""
        scarce = 1.0 if offer.left is None else 1.0 + 1.0 / max(1, offer.left)
        cost = self.per_call + offer.price + offer.latency * self.per_second
        return max(1e-9, cost * scarce)

    def _gain(self, offer: AgentOffer, rest: Mapping[str, float], best: float) -> float:
        return self.value * rest[offer.agent] * (1.0 - best)


class Hedged(msgspec.Struct, frozen=True):
    """Calls slow agents at once, beside those of another policy, where later is too late.

    It is too late for an agent of `least_prior` or more if its latency exceeds the time that is
    left when the agents of the policy's step have answered.
    """

    policy: BudgetPolicy
    least_prior: float = 0.2

    def next(self, state: BudgetState) -> BudgetStep:
        """Call the policy's agents, and slow agents with no time to start later."""
        step = self.policy.next(state)
        if not step.ask:
            return step
        latency = {offer.agent: offer.latency for offer in state.offers}
        rest = state.seconds_left - max(latency[agent] for agent in step.ask)
        early = tuple(
            offer.agent
            for offer in state.open()
            if offer.agent not in step.ask
            and offer.prior >= self.least_prior
            and offer.latency >= rest
        )
        if not early:
            return step
        reason = f"{step.reason}; {', '.join(early)} could not answer in time if asked later"
        return BudgetStep(ask=step.ask + early, reason=reason)


class Capped(msgspec.Struct, frozen=True):
    """Keeps another policy within `most` calls and the total `price` a turn."""

    policy: BudgetPolicy
    most: int | None = None
    price: float | None = None

    def next(self, state: BudgetState) -> BudgetStep:
        """Call the agents of the policy's step within the budget."""
        prices = {offer.agent: offer.price for offer in state.offers}
        called = [*state.answered, *state.running]
        spent = sum(prices.get(agent, 0.0) for agent in called)
        step = self.policy.next(self._affordable(state, called, spent))
        if not step.ask:
            return step
        kept: list[str] = []
        for agent in step.ask:
            if self.most is not None and len(called) + len(kept) >= self.most:
                break
            if self.price is not None and spent + prices[agent] > self.price:
                continue
            spent += prices[agent]
            kept.append(agent)
        if kept:
            return BudgetStep(ask=tuple(kept), reason=step.reason)
        if state.running:
            return BudgetStep(reason="others are still answering")
        return BudgetStep(enough=True, reason="the turn's budget is spent")

    def _affordable(self, state: BudgetState, called: Sequence[str], spent: float) -> BudgetState:
        """Return the state without the agents above the rest of the budget."""
        if self.price is None:
            return state
        most = self.price - spent
        offers = [one for one in state.offers if one.agent in called or one.price <= most]
        return msgspec.structs.replace(state, offers=offers)


def asks_one(policy: BudgetPolicy) -> bool:
    """Return whether a policy never asks a second agent."""
    if isinstance(policy, Capped):
        return policy.most == 1 or asks_one(policy.policy)
    return isinstance(policy, TopK) and policy.k == 1


def updated_priors(state: BudgetState) -> dict[str, float]:
    """Return each open agent's probability, given how the answers so far turned out.

    Where a likely agent has answered badly, the lost probability goes to the others in
    proportion, up to 0.99: a router's probabilities compete, if only roughly.
    """
    priors = {offer.agent: offer.prior for offer in state.offers}
    total = sum(priors.values())
    lost = sum(max(0.0, priors.get(agent, 0.0) - found) for agent, found in state.answered.items())
    opened = state.open()
    remaining = sum(offer.prior for offer in opened)
    factor = 1.0
    if remaining > 0 and total > 0:
        factor = (remaining + lost * remaining / total) / remaining
    return {offer.agent: min(0.99, offer.prior * factor) for offer in opened}


def _ask(offers: Sequence[AgentOffer], reason: str) -> BudgetStep:
    if not offers:
        return BudgetStep(enough=True, reason="there is nobody who could answer in time")
    return BudgetStep(ask=tuple(offer.agent for offer in offers), reason=reason)


def _wait_or_end(state: BudgetState, reason: str) -> BudgetStep:
    if state.running:
        return BudgetStep(reason="others are still answering")
    return BudgetStep(enough=True, reason=reason)
