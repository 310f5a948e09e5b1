"""Budgets: which agents to call next, and when to stop.

A budget is a pure function of a `BudgetState`. It reads no clock and calls no agent, so live turns
(`Selection.more`) and recorded answers use the same budgets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.bounds import Cost, Count, Share, about
from prolocutor.errors import BadInput

_SHORT: Final = re.compile(r"(top|sure|gain):\s?(\d*\.?\d+)")
_VALUES: Final = {"top": "calls", "sure": "sure", "gain": "per_call"}
_TOP: Final = 3
_STARTS: Final = {"sure": 2, "gain": 1}
_SURE: Final = {"sure": 0.3, "gain": 0.4}
_CERTAIN: Final = 0.6
"""The probability of an answer with which `sure` ends a turn while agents still run."""

_HEDGED: Final = 0.2
"""The least probability of a slow agent that is called early."""


class AgentOffer(msgspec.Struct, frozen=True, kw_only=True):
    """An agent to call: the router's probability, and the cost of a call.

    `price` of a call in any one currency, `latency` in seconds, `left` calls of its quota (None:
    no quota).
    """

    agent: str
    prior: float
    price: float = 0.0
    latency: float = 0.0
    left: int | None = None


class BudgetState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a turn: the agents to call, and the calls so far.

    `answered` maps each settled agent to the probability of its best answer, 0 after a
    failure. `running` agents have been called and have not settled.
    """

    offers: Sequence[AgentOffer]
    answered: Mapping[str, float] = {}
    running: frozenset[str] = frozenset()
    seconds_left: float = inf

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
            ),
            key=lambda offer: -offer.prior,
        )


class BudgetStep(msgspec.Struct, frozen=True):
    """The next step: call the agents `ask`; if empty, wait, or stop where `enough`; and why."""

    ask: tuple[str, ...] = ()
    enough: bool = False
    reason: str = ""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The calls allowed to a turn; None is the policy's default.

    The gain of a call is the probability that the agent is right and the best answer so far is not,
    times `value`, the worth of a right answer in the currency of the prices. Its cost is
    `per_call`, plus the price, plus the latency times `per_second`; where a quota is short it is
    dearer.
    """

    expected: ClassVar[str] = "a budget ({policy: ...})"

    policy: Annotated[
        Literal["all", "top", "sure", "gain"],
        about(
            "`all`: call all agents at once. `top`: call the `calls` likeliest. `sure`: call"
            " `start` at once and then one by one until an answer is right with probability `sure`."
            " `gain`: call the agents of the largest expected gain for their cost."
        ),
    ] = "sure"
    calls: Annotated[
        Count | None,
        about(f"The most calls of a turn; by default no limit, of `top` {_TOP}.", unit="calls"),
    ] = None
    price: Annotated[
        Cost | None,
        about("The most that a turn may cost, in the currency of the cards; by default no limit."),
    ] = None
    start: Annotated[
        Count | None,
        about(
            f"Calls that are made at once; by default {_STARTS['sure']} with `sure`,"
            f" {_STARTS['gain']} with `gain`.",
            unit="calls",
        ),
    ] = None
    sure: Annotated[
        Share | None,
        about(
            "The probability of being right from which an answer ends the calls; by default"
            f" {_SURE['sure']} with `sure`, {_SURE['gain']} with `gain`."
        ),
    ] = None
    value: Annotated[
        Annotated[float, Meta(gt=0)], about("`gain`: the value of a right answer.")
    ] = 1.0
    per_call: Annotated[Cost, about("`gain`: the cost of a call beside its price.")] = 0.1
    per_second: Annotated[Cost, about("`gain`: the cost of a second of waiting.")] = 0.0
    hedge: Annotated[
        bool,
        about("Call slow agents at once where later is too late, by the cards' `latency`."),
    ] = False

    @classmethod
    def from_short(cls, value: object) -> dict[str, Any]:
        """Return the settings of a short form: `all`, `top:3`, `sure:0.3`, `gain:0.02`."""
        if not isinstance(value, str):
            raise ValueError(cls.expected)
        if value.strip() == "all":
            return {"policy": "all"}
        found = _SHORT.fullmatch(value.strip())
        if found is None:
            raise ValueError("a budget: a map, all, top:3, sure:0.3 or gain:0.02")
        number = float(found[2])
        return {
            "policy": found[1],
            _VALUES[found[1]]: int(number) if number.is_integer() else number,
        }

    @property
    def asks_one(self) -> bool:
        """Whether a second agent is never asked."""
        return self.calls == 1

    def next(self, state: BudgetState) -> BudgetStep:
        """Return the next step; called at the start of a turn and whenever an agent has settled."""
        called = {*state.answered, *state.running}
        left = inf
        if self.price is not None:
            left = self.price - sum(one.price for one in state.offers if one.agent in called)
            offers = [one for one in state.offers if one.agent in called or one.price <= left]
            state = msgspec.structs.replace(state, offers=offers)
        if state.answered and state.best >= (enough := self._enough(bool(state.running))):
            reason = f"an answer is right with {state.best:.2f} >= {enough}"
            return BudgetStep(enough=True, reason=reason)
        if state.running:
            return BudgetStep(reason="others are still answering")
        chosen, reason = self._choose(state)
        if chosen and self.hedge and (early := _too_late_later(chosen, state)):
            names = ", ".join(one.agent for one in early)
            chosen, reason = [*chosen, *early], f"{reason}; {names} could not answer if asked later"
        most = inf if self.calls is None else self.calls - len(called)
        asked: list[str] = []
        for offer in chosen:
            if len(asked) < most and offer.price <= left:
                asked.append(offer.agent)
                left -= offer.price
        if not asked:
            return BudgetStep(
                enough=True, reason="the turn's budget is spent" if chosen else reason
            )
        return BudgetStep(ask=tuple(asked), reason=reason)

    def _enough(self, is_running: bool) -> float:
        """Return the probability of an answer that ends the turn; above 1, none does."""
        if self.policy not in _SURE:
            return inf
        sure = _SURE[self.policy] if self.sure is None else self.sure
        if not is_running:
            return sure
        return max(sure, _CERTAIN) if self.policy == "sure" else inf

    def _choose(self, state: BudgetState) -> tuple[Sequence[AgentOffer], str]:
        """Return the agents to call, and why these; none if there are no more calls to make."""
        count = 1 if state.begun else self.start or _STARTS.get(self.policy, 1)
        likeliest = state.open()
        if self.policy == "gain":
            return self._gainful(state, count)
        if self.policy == "sure":
            if not (chosen := likeliest[:count]):
                return [], f"nobody is left to ask after {len(state.answered)} calls"
            if state.begun:
                sure = self._enough(is_running=False)
                return chosen, f"the best answer is right with {state.best:.2f} < {sure}"
            return chosen, f"the {len(chosen)} likeliest are asked"
        number, who, asked = len(likeliest), "everybody has answered", "everybody is asked"
        if self.policy == "top":
            number = self.calls or _TOP
            who, asked = (f"the {number} likeliest {end}" for end in ("have answered", "are asked"))
        if state.begun:
            return [], who
        return likeliest[
            :number
        ], asked if likeliest else "there is nobody who could answer in time"

    def _gainful(self, state: BudgetState, count: int) -> tuple[Sequence[AgentOffer], str]:
        """Return the agents of the largest gain for their cost; at first at least one."""
        rest = updated_priors(state)
        gains = {one.agent: self.value * rest[one.agent] * (1 - state.best) for one in state.open()}
        worth = sorted(state.open(), key=lambda one: -gains[one.agent] / self.cost(one))
        chosen = [one for one in worth if gains[one.agent] >= self.cost(one)][:count]
        if not state.begun:
            chosen = chosen or worth[:1]
        if not chosen:
            return [], "no further call is worth its cost"
        first = chosen[0]
        return chosen, f"a gain of {gains[first.agent]:.3f} for a cost of {self.cost(first):.3f}"

    def cost(self, offer: AgentOffer) -> float:
        """Return the cost of a call, in the currency of the prices."""
        scarce = 1.0 if offer.left is None else 1.0 + 1.0 / max(1, offer.left)
        return max(1e-9, (self.per_call + offer.price + offer.latency * self.per_second) * scarce)


def read_budget(text: str) -> Budget:
    """Read a budget such as `top:3`, as a file has it in short; `BadInput` for other texts."""
    try:
        return msgspec.convert(Budget.from_short(text), Budget)
    except ValueError:
        what = f"{text!r} is not a budget; write all, top:3, sure:0.3, gain:0.02"
        raise BadInput(what, field="budget") from None


def _too_late_later(chosen: Sequence[AgentOffer], state: BudgetState) -> list[AgentOffer]:
    """Return the slow agents that could not answer any more after those chosen have."""
    rest = state.seconds_left - max(one.latency for one in chosen)
    return [
        one
        for one in state.open()
        if one not in chosen and one.prior >= _HEDGED and one.latency >= rest
    ]


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
