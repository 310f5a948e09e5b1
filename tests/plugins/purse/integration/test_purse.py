"""A purse: what calls cost, and limits that hold."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from prolocutor import Annotator, Assistant, Pipeline, Skill
from prolocutor.assistant.assistant_settings import PurseSettings
from prolocutor.errors import ConfigError, ServiceUnreachable
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.purse.door import PATH, SpendingChannel
from prolocutor.testing.channel_kit import running
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener

TODAY = "2026-01-02"
NOON = 1_767_355_200.0


class Agent:
    """An agent whose calls are counted."""

    def __init__(self, **reply: Any) -> None:
        self.calls = 0
        self.reply = {"text": "Well.", "confidence": 0.9, **reply}

    async def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        self.calls += 1
        return self.reply


def assistant_of(*skills: Skill, store: Any = "memory:", **limits: Any) -> Assistant:
    assistant = Assistant(
        Pipeline(skills=skills), store=store, purse=PurseSettings(currency="EUR", **limits)
    )
    assistant.purse.clock = lambda: NOON
    return assistant


def priced(agent: Any, price: float = 0.3, name: str = "writer", **options: Any) -> Skill:
    return Skill(agent, name=name, card={"price": price}, **options)


async def spent(assistant: Assistant, kind: str = "spent") -> list[tuple[str, str, float, int]]:
    found = await assistant.store.amounts(kind, "2026", "2027")
    return [(one.user, one.name, round(one.amount, 6), one.number) for one in found]


@pytest.mark.parametrize(
    ("limits", "calls"),
    [
        ({"person_day": 1.0}, 3),
        ({"person_month": 0.9}, 3),
        ({"agent_day": 0.3}, 1),
        ({"total_day": 0.0}, 0),
        ({"turn": 0.2}, 0),
        ({"turn": 0.3}, 5),
        ({}, 5),
    ],
)
async def test_no_call_is_made_beyond_a_limit(limits, calls) -> None:
    agent = Agent()
    async with assistant_of(priced(agent), **limits) as assistant:
        for _ in range(5):
            last = await assistant.reply("hi", "ann")

    assert agent.calls == calls
    assert (last.text == "Well.") == (calls == 5)


async def test_at_a_limit_the_reply_says_so() -> None:
    async with assistant_of(priced(Agent()), person_day=0.2) as assistant:
        reply = await assistant.reply("hi", "ann")

    assert reply.text == "Your day may cost 0.2 EUR, and that is spent. I cannot ask writer now."


async def test_a_limit_of_one_person_is_not_another_ones() -> None:
    async with assistant_of(priced(Agent()), person_day=0.3) as assistant:
        replies = [(await assistant.reply("hi", user)).text for user in ("ann", "bob")]

    assert replies == ["Well.", "Well."]


async def test_what_an_agent_says_it_cost_counts() -> None:
    async with assistant_of(priced(Agent(cost=0.05)), person_day=1.0) as assistant:
        await assistant.reply("hi", "ann")

        assert await spent(assistant) == [("ann", "writer", 0.05, 1)]
        assert await spent(assistant, "person") == [("ann", "", 0.05, 1)]


@pytest.mark.parametrize("cost", [1e308, 10**400, -1.0, True, "1"], ids=lambda cost: str(cost)[:9])
async def test_an_amount_that_no_call_costs_is_taken_for_its_price(cost: Any) -> None:
    async with assistant_of(priced(Agent(cost=cost)), person_day=1.0) as assistant:
        reply = await assistant.reply("hi", "ann")

        assert reply.text == "Well."
        assert await spent(assistant) == [("ann", "writer", 0.3, 1)]


async def test_a_call_that_never_left_costs_nothing() -> None:
    async def away(request: dict[str, Any]) -> None:
        raise ServiceUnreachable("away", sent=False)

    async with assistant_of(priced(away), person_day=1.0) as assistant:
        await assistant.reply("hi", "ann")

        assert await spent(assistant) == [("ann", "writer", 0.0, 0)]


async def test_a_cheaper_skill_is_asked_in_place_of_one_at_its_limit() -> None:
    dear, cheap = Agent(), Agent(text="Cheaply.")
    skills = priced(dear, 1.0), priced(cheap, 0.1, "cheap")
    options = {"at_limit": "cheaper", "instead": {"writer": "cheap"}}
    async with assistant_of(*skills, person_day=1.1, **options) as assistant:
        reply = await assistant.reply("hi", "ann", skill="writer")
        reply_two = await assistant.reply("hi", "ann", skill="writer")

    assert reply.text == "Well."
    assert reply_two.text == "Cheaply."


@pytest.mark.parametrize(("said", "reply", "calls"), [("yes", "Well.", 1), ("no", "Then", 0)])
async def test_a_person_may_say_that_it_goes_on_beyond_a_limit(said, reply, calls) -> None:
    agent = Agent()
    async with assistant_of(priced(agent), person_day=0.2, at_limit="ask") as assistant:
        asked = await assistant.reply("hi", "ann")
        done = await assistant.reply(said, "ann")

    assert asked.text.endswith("Shall I go on anyway, for about 0.3 EUR?")
    assert done.text.startswith(reply)
    assert agent.calls == calls


async def test_other_services_with_a_price_fail_at_a_limit() -> None:
    annotator = Agent()
    pipeline = Pipeline(
        annotators=[Annotator(annotator, name="moods", card={"price": 1.0})],
        skills=[Skill(Agent(), name="writer")],
    )
    async with Assistant(pipeline, store="memory:", purse=PurseSettings(turn=0.5)) as assistant:
        reply = await assistant.reply("hi", "ann")

    assert reply.text == "Well."
    assert annotator.calls == 0


async def test_an_effect_that_would_cost_too_much_is_not_done() -> None:
    agent = Agent()
    async with assistant_of(priced(agent, acts=True), person_day=0.2) as assistant:
        reply = await assistant.reply("pay", "ann")

    assert reply.text.startswith("This was not done: “pay” (Your day may cost 0.2 EUR")
    assert agent.calls == 0


async def test_operators_are_warned_from_80_percent_on(caplog) -> None:
    async with assistant_of(priced(Agent(), 0.4), person_day=1.0) as assistant:
        await assistant.reply("hi", "ann")
        early = "are spent" in caplog.text
        await assistant.reply("hi", "ann")

    assert not early
    assert "80% of 1 are spent: 0.8 (person ann 2026-01-02)" in caplog.text


async def test_deleting_a_person_keeps_what_was_spent_without_their_name() -> None:
    async with assistant_of(priced(Agent()), person_day=1.0) as assistant:
        await assistant.reply("hi", "ann")
        await assistant.archive.delete_person("ann")

        assert await spent(assistant) == [("", "writer", 0.3, 1)]
        assert await spent(assistant, "person") == []


async def test_limits_hold_for_three_replicas_at_full_load(database: str) -> None:
    agents = [Agent() for _ in range(3)]
    assistants = [
        assistant_of(priced(agent, 0.5), store=PostgresqlStore(database), total_day=10.0)
        for agent in agents
    ]
    for assistant in assistants:
        await assistant.start()
    asking = [
        assistant.reply("hi", f"{place}-{number}")
        for place, assistant in enumerate(assistants)
        for number in range(25)
    ]
    await asyncio.gather(*asking)
    (total,) = await assistants[0].store.amounts("total", TODAY, TODAY)
    for assistant in assistants:
        await assistant.aclose()

    assert sum(agent.calls for agent in agents) == 20
    assert total.amount == pytest.approx(10.0)


async def test_operators_see_spending_by_agent_person_and_day_and_as_a_table() -> None:
    async with assistant_of(priced(Agent()), person_day=0.5) as assistant:
        await assistant.reply("hi", "=ann")
        app = Listener(assistant, [SpendingChannel(DoorContext(assistant))])
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            by = {}
            for name in ("agent", "person", "day"):
                async with http.get(PATH, params={"by": name}) as answer:
                    by[name] = await answer.json()
            async with http.get(f"{PATH}.csv") as answer:
                table = await answer.text()

    assert [one["items"][0]["name"] for one in by.values()] == ["writer", "=ann", TODAY]
    assert by["agent"]["total"] == pytest.approx(0.3)
    assert by["agent"]["limits"][0]["spent"] == pytest.approx(0.3)
    assert table.splitlines() == [
        "day,agent,person,amount,calls",
        f"{TODAY},writer,'=ann,0.300000,1",
    ]


def test_a_skill_that_is_not_there_cannot_stand_in() -> None:
    with pytest.raises(ConfigError, match="no skill is called 'other'"):
        assistant_of(priced(Agent()), instead={"writer": "other"})
