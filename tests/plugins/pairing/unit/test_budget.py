"""Budgets: whom to ask next, and when it is enough."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.pairing.budget import (
    AgentOffer,
    Budget,
    BudgetState,
    updated_priors,
)

BANK = AgentOffer(agent="bank", prior=0.6)
MATHS = AgentOffer(agent="maths", prior=0.3)
NEWS = AgentOffer(agent="news", prior=0.1)
THREE = [NEWS, BANK, MATHS]
ALL = Budget(policy="all")
TWO = Budget(policy="top", calls=2)
GAIN = Budget(policy="gain")


def asked(budget: Budget, **known: object) -> tuple[str, ...]:
    return budget.next(BudgetState(offers=THREE, **known)).ask  # type: ignore[arg-type]


def test_all_asks_everybody_the_likeliest_first() -> None:
    assert asked(ALL) == ("bank", "maths", "news")


def test_all_waits_for_everybody() -> None:
    step = ALL.next(BudgetState(offers=THREE, answered={"bank": 0.9}, running=frozenset({"news"})))
    assert step.ask == ()
    assert step.enough is False
    done = ALL.next(BudgetState(offers=THREE, answered={"bank": 0.9, "news": 0.1}))
    assert done.enough


def test_top_k_asks_only_so_many() -> None:
    assert asked(TWO) == ("bank", "maths")
    assert TWO.next(BudgetState(offers=THREE, answered={"bank": 0.0, "maths": 0.0})).enough


def test_two_are_asked_then_one_by_one_until_one_is_sure() -> None:
    budget = Budget(sure=0.5)
    assert asked(budget) == ("bank", "maths")
    assert asked(budget, answered={"bank": 0.1, "maths": 0.2}) == ("news",)
    assert budget.next(BudgetState(offers=THREE, answered={"bank": 0.1, "maths": 0.5})).enough


def test_a_fair_answer_waits_for_those_that_run_and_a_certain_one_does_not() -> None:
    budget = Budget(sure=0.3)
    running = frozenset({"maths"})
    fair = budget.next(BudgetState(offers=THREE, answered={"bank": 0.5}, running=running))
    assert fair.ask == ()
    assert fair.enough is False
    assert budget.next(BudgetState(offers=THREE, answered={"bank": 0.6}, running=running)).enough


def test_whoever_runs_is_not_cut_off_by_an_answer_less_sure_than_wanted() -> None:
    state = BudgetState(offers=THREE, answered={"bank": 0.7}, running=frozenset({"maths"}))
    assert not Budget(sure=0.8).next(state).enough


def test_it_is_enough_when_nobody_is_left() -> None:
    bad = dict.fromkeys(("bank", "maths", "news"), 0.0)
    assert Budget().next(BudgetState(offers=THREE, answered=bad)).enough


def test_at_most_so_many_are_asked() -> None:
    budget = Budget(sure=0.9, calls=2)
    assert budget.next(BudgetState(offers=THREE, answered={"bank": 0.0, "maths": 0.0})).enough


def test_who_could_not_answer_in_time_is_not_asked() -> None:
    slow = AgentOffer(agent="bank", prior=0.9, latency=3.0)
    step = Budget().next(BudgetState(offers=[slow, MATHS], seconds_left=2.0))
    assert step.ask == ("maths",)


def test_an_agent_without_quota_is_not_asked() -> None:
    spent = AgentOffer(agent="bank", prior=0.9, left=0)
    assert ALL.next(BudgetState(offers=[spent, NEWS])).ask == ("news",)


def test_a_dear_agent_is_asked_only_while_it_is_worth_its_price() -> None:
    dear = AgentOffer(agent="bank", prior=0.5, price=0.4)
    budget = GAIN
    offers = [dear, MATHS]
    assert budget.next(BudgetState(offers=offers)).ask == ("maths",)
    assert budget.next(BudgetState(offers=offers, answered={"maths": 0.0})).ask == ("bank",)
    assert budget.next(BudgetState(offers=offers, answered={"maths": 0.6})).enough


def test_a_scarce_quota_makes_an_agent_dearer() -> None:
    budget = GAIN
    scarce, plenty = (
        AgentOffer(agent="a", prior=0.5, left=1),
        AgentOffer(agent="a", prior=0.5, left=1000),
    )
    assert budget.cost(scarce) > budget.cost(plenty) > budget.cost(BANK)


def test_gain_asks_somebody_even_if_nobody_is_worth_it() -> None:
    assert len(asked(Budget(policy="gain", value=1e-6))) == 1


def test_belief_moves_on_from_who_answered_badly() -> None:
    before = updated_priors(BudgetState(offers=THREE))
    after = updated_priors(BudgetState(offers=THREE, answered={"bank": 0.0}))
    assert after["maths"] > before["maths"] == 0.3


def test_a_slow_agent_is_started_at_once_if_later_would_be_too_late() -> None:
    slow = AgentOffer(agent="news", prior=0.2, latency=1.5)
    quick = [AgentOffer(agent="bank", prior=0.6, latency=0.6), slow]
    budget = Budget(start=1, hedge=True)
    assert budget.next(BudgetState(offers=quick, seconds_left=2.0)).ask == ("bank", "news")
    assert budget.next(BudgetState(offers=quick, seconds_left=9.0)).ask == ("bank",)


def test_a_turn_keeps_to_its_price_and_its_number_of_calls() -> None:
    offers = [AgentOffer(agent=name, prior=0.3, price=1.0) for name in ("a", "b", "c")]
    assert len(Budget(policy="all", price=2.0).next(BudgetState(offers=offers)).ask) == 2
    assert len(Budget(policy="all", calls=1).next(BudgetState(offers=offers)).ask) == 1
    spent = BudgetState(offers=offers, answered={"a": 0.0, "b": 0.0})
    assert Budget(price=2.0).next(spent).enough


BUDGETS: list[Budget] = [
    ALL,
    TWO,
    Budget(sure=0.5),
    GAIN,
    Budget(hedge=True),
    Budget(calls=3),
]


@given(
    budget=st.sampled_from(BUDGETS),
    priors=st.lists(st.floats(0, 1), max_size=6),
    found=st.lists(st.floats(0, 1), min_size=6, max_size=6),
)
def test_every_budget_ends_and_asks_nobody_twice(
    budget: Budget, priors: list[float], found: list[float]
) -> None:
    offers = [AgentOffer(agent=str(place), prior=prior) for place, prior in enumerate(priors)]
    answered: dict[str, float] = {}
    step = budget.next(BudgetState(offers=offers))
    for _ in offers:
        assert not answered.keys() & set(step.ask)
        assert step.enough != bool(step.ask)
        answered |= {agent: found[int(agent)] for agent in step.ask}
        step = budget.next(BudgetState(offers=offers, answered=answered))
    assert step.enough


def test_a_budget_says_whether_it_asks_one_agent_alone() -> None:
    assert Budget(policy="top", calls=1).asks_one
    assert Budget(calls=1).asks_one
    assert not Budget(price=1.0).asks_one
