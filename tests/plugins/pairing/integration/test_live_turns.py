"""Whom a router asks in an ordinary turn, by every policy of a budget, over real HTTP."""

from pathlib import Path

import pytest

from tests.plugins.pairing.integration.agents import Agent, assistant_of, record, turn

QUESTION = "Will it rain in Boston tomorrow?"
NOT_KNOWN = "Sorry, I do not know about that."
RANKED = "response_selector: {ranker: unsupervised}\n"


def agents() -> dict[str, Agent]:
    """Three agents: a quick one that knows it, a slow one, and one with a price."""
    return {
        "weather": Agent(
            "It will rain in Boston tomorrow.",
            0.02,
            {"description": "Tells the weather.", "examples": ["will it rain in Boston tomorrow"]},
        ),
        "travel": Agent(
            "Flights to Boston leave tomorrow at 9.",
            0.2,
            {"description": "Finds flights and trains.", "latency": 0.2},
        ),
        "oracle": Agent(
            "Tomorrow the weather in Boston: rain.",
            0.0,
            {"description": "Answers questions about tomorrow.", "price": 0.5},
        ),
    }


def routed(budget: str) -> str:
    return f"skill_selector: {{router: cards, budget: {budget}}}\n{RANKED}"


@pytest.mark.parametrize(
    ("budget", "asked"),
    [
        ("{policy: all}", ["weather", "travel", "oracle"]),
        ("{policy: top, calls: 1}", ["weather"]),
        ("{policy: top, calls: 2}", ["weather", "oracle"]),
        ("{policy: sure, start: 1}", ["weather"]),
        ("{policy: sure, start: 1, sure: 1}", ["weather", "travel", "oracle"]),
        ("{policy: sure, start: 1, sure: 1, calls: 2}", ["weather", "oracle"]),
        ("{policy: sure, start: 1, sure: 1, price: 0.1}", ["weather", "travel"]),
        ("{policy: all, price: 0}", ["weather", "travel"]),
        ("{policy: gain, start: 3, sure: 1}", ["weather"]),
        ("{policy: gain, start: 3, sure: 1, per_call: 0}", ["weather", "travel"]),
        ("{policy: gain, start: 3, sure: 1, value: 100}", ["weather", "travel", "oracle"]),
        ("{policy: gain, start: 3, sure: 1, per_second: 100}", ["weather"]),
    ],
)
async def test_just_those_are_called_that_the_budget_allows(
    tmp_path: Path, budget: str, asked: list[str]
) -> None:
    three = agents()
    async with assistant_of(tmp_path, three, routed(budget)) as assistant:
        result = await turn(assistant, QUESTION)

    assert [name for name, agent in three.items() if agent.asked] == asked
    assert record(result).asked == asked
    assert result.reply.text == three["weather"].says


async def test_enough_cancels_who_still_answers(tmp_path: Path) -> None:
    three = agents()
    three["travel"].seconds, three["oracle"].says = 10, NOT_KNOWN
    async with assistant_of(tmp_path, three, routed("{policy: sure, start: 3}")) as assistant:
        result = await turn(assistant, QUESTION)

    outcomes = {one.name: one.outcome for one in record(result).services}
    assert outcomes["travel"] == "skipped"
    assert three["travel"].answered == 0
    assert result.reply.active_skill == "weather"
    assert record(result).seconds < 9


async def test_a_quota_that_is_used_up_is_kept(tmp_path: Path) -> None:
    three = agents()
    three["weather"].card["quota"] = 1
    async with assistant_of(tmp_path, three, routed("{policy: top, calls: 1}")) as assistant:
        await turn(assistant, QUESTION)
        await turn(assistant, QUESTION, user="bob")

    assert len(three["weather"].asked) == 1
    assert three["oracle"].asked == [QUESTION]


async def test_an_agent_that_fails_counts_as_asked_and_the_next_one_is(tmp_path: Path) -> None:
    three = agents()
    three["weather"].says = None
    async with assistant_of(tmp_path, three, routed("{policy: sure, start: 1}")) as assistant:
        result = await turn(assistant, QUESTION)

    assert len(three["weather"].asked) == 1
    assert result.reply.active_skill == "oracle"


async def test_a_dead_agent_holds_nobody_up(tmp_path: Path) -> None:
    three = agents()
    yaml = routed("{policy: sure, start: 1}").replace("cards,", "cards, timeout: 2,")
    async with assistant_of(tmp_path, three, yaml) as assistant:
        dead = assistant.engine.prepared.skill_steps["weather"].guard
        for _ in range(20):
            dead.breaker.record_failure()
        result = await turn(assistant, QUESTION)

    assert three["weather"].asked == []
    assert result.reply.active_skill == "oracle"


async def test_a_late_answer_never_speaks_and_the_deadline_holds(tmp_path: Path) -> None:
    three = {"weather": agents()["weather"], "travel": agents()["travel"]}
    three["weather"].seconds, three["travel"].says = 30, "Trains to Boston run tomorrow."
    yaml = f"deadline: 3\n{routed('{policy: all}')}"
    async with assistant_of(tmp_path, three, yaml) as assistant:
        result = await turn(assistant, QUESTION)

    assert result.reply.text == three["travel"].says
    assert record(result).seconds < 20


async def test_a_follow_up_stays_with_the_agent_that_answered(tmp_path: Path) -> None:
    three = agents()
    async with assistant_of(tmp_path, three, routed("{policy: top, calls: 1}")) as assistant:
        await turn(assistant, QUESTION)
        result = await turn(assistant, "what about Texas?")

    assert three["weather"].asked == [QUESTION, "what about Texas?"]
    assert result.reply.active_skill == "weather"
    assert three["travel"].asked == three["oracle"].asked == []


async def test_every_choice_carries_its_reason(tmp_path: Path) -> None:
    async with assistant_of(
        tmp_path, agents(), routed("{policy: sure, start: 1, sure: 0.9, calls: 2}")
    ) as assistant:
        result = await turn(assistant, QUESTION)

    first, second, last = record(result).reasons
    assert first["asked"] == ["weather"]
    assert "the 1 likeliest are asked (weather 0." in first["reason"]
    assert first["reason"].endswith("; cards)")
    assert "the best answer is right with 0." in second["reason"]
    assert last["asked"] == []
    assert last["reason"] == "the turn's budget is spent"
    pairing = result.reply.attributes["pairing"]
    assert pairing["router"] == "cards"
    assert pairing["ranker"] == "unsupervised"
    assert pairing["ranked"][0][0] == "weather"
    assert pairing["reason"]
