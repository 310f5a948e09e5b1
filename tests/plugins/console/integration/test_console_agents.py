"""The console's agents over HTTP: figures, switching, trying, talking to one alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from prolocutor import Assistant, Pipeline
from prolocutor.plan.pipeline import Breaker, Call, Service
from prolocutor.plugins.console.channel import Console
from prolocutor.plugins.console.ways import ServiceWay, find_way
from prolocutor.testing.channel_kit import Door, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener
from tests.integration.doors.fakes import get, post
from tests.unit.pipeline.talk import hypothesis, says

HOSTILE = "<img src=x onerror=alert(1)>\u202e"
NAMED = AccessPolicy(keys={"key-of-eve": "eve"}, loopback=False)


@asynccontextmanager
async def serving(
    *skills: Service, auth: AccessPolicy | None = None, store: str = "memory:", **stages: Any
) -> AsyncIterator[Door]:
    pipeline = Pipeline(skills=skills, **stages)
    async with Assistant(pipeline, store=store, deadline=60.0) as it:
        app = Listener(it, [Console(DoorContext(it))], auth=auth)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield Door(url, http, it, app, None)  # type: ignore[arg-type]


async def test_the_list_counts_what_became_of_each_agent() -> None:
    wins = says("wins", hypothesis("hello", 0.9), card={"price": 0.5, "description": HOSTILE})
    also = says(
        "also", hypothesis("hi", 0.6, cost=2.0), [], hypothesis("no", 0.05), requires=["note"]
    )
    fails = says("fails", ValueError(HOSTILE), breaker=Breaker(failures=2), card={"price": 0.25})
    async with serving(wins, also, fails, annotators=[says("note", 1)]) as door:
        for text in ("one", "two", "three"):
            result = await door.assistant.turn(text, user="ann")
        status, listed = await get(door, "/api/console/agents")
        _, failing = await get(door, "/api/console/agents/fails", step=3600)
        _, noted = await get(door, "/api/console/agents/note")
        _, won = await get(door, "/api/console/agents/wins")
        later = await get(door, "/api/console/agents", since=2e9 * 2)
        wrong = await get(door, "/api/console/agents", since="yesterday")
        unknown = await get(door, "/api/console/agents/nobody")
        await door.assistant.archive.delete_person("ann")
        _, forgotten = await get(door, "/api/console/agents/fails")
        staged = await get(door, "/api/console/agents/wins", stage="annotators")

    agents = {one["name"]: one for one in listed["items"]}
    assert status == 200
    assert listed["turns"] == 3
    assert listed["cost"] == 1.5 + 2.0 + 2 * 0.25
    counts = ("asked", "wins", "declines", "failed", "kinds", "state")
    assert [tuple(agents[name][one] for one in counts) for name in agents] == [
        (3, 0, 0, 0, {}, "well"),
        (3, 3, 0, 0, {}, "well"),
        (3, 0, 2, 0, {}, "well"),
        (3, 0, 0, 3, {"raised": 2, "breaker_open": 1}, "alone"),
    ]
    assert agents["wins"]["p50"] <= agents["wins"]["p99"] <= 60
    assert agents["fails"]["p50"] is None
    assert agents["fails"]["note"] == "left alone after 2 failures"
    assert agents["fails"]["kind"] == "python"
    assert agents["fails"]["since"] is not None
    kinds = {one["code"]: one for one in failing["failures"]}
    assert kinds["raised"]["number"] == 2
    assert HOSTILE in kinds["raised"]["error"]
    assert failing["latest"]["code"] == "raised"
    told = [(one["error"], one["utt_id"], one["turn_id"]) for one in forgotten["failures"]]
    assert set(told) == {("", "", "")}
    assert failing["failures"][0]["utt_id"] == result.reply.utt_id
    assert failing["series"]["step"] == 3600
    assert failing["series"]["failed"] == [3]
    assert failing["series"]["p50"] == [None]
    assert noted["needed_by"] == ["also"]
    assert noted["answers"] is False
    assert won["card"]["description"] == HOSTILE
    assert won["overlap"] == [{"agent": "also", "share": pytest.approx(1 / 3)}]
    assert later[1]["turns"] == 0
    assert later[1]["items"][0]["asked"] == 0
    assert wrong[0] == 400
    assert wrong[1]["field"] == "since"
    assert [unknown[0], staged[0]] == [404, 404]


async def test_an_agent_that_fails_in_half_of_its_latest_calls_is_not_well() -> None:
    no, yes = ValueError("no"), hypothesis("yes")
    half = says("half", no, yes, no, yes, no, breaker=Breaker(failures=9))
    states = []
    async with serving(half, says("rare", no, no, yes)) as door:
        for text in ("one", "two", "three", "four", "five"):
            await door.assistant.turn(text, user="ann")
            _, listed = await get(door, "/api/console/agents")
            states.append([one["state"] for one in listed["items"]])

    assert states == [["well", "well"]] * 4 + [["failing", "well"]]
    assert listed["items"][0]["note"] == "3 of its latest 5 calls failed"


async def test_an_agent_that_has_answered_as_often_as_it_had_failed_is_well_again() -> None:
    half = says(
        "half", *[ValueError("no")] * 3, *[hypothesis("yes")] * 3, breaker=Breaker(failures=9)
    )
    seen = []
    async with serving(half) as door:
        for text in ("one", "two", "three", "four", "five", "six"):
            await door.assistant.turn(text, user="ann")
            _, listed = await get(door, "/api/console/agents")
            seen.append(listed["items"][0])

    assert [one["state"] for one in seen] == ["well", "well", *["failing"] * 3, "well"]
    assert seen[3]["note"] == "3 of its latest 4 calls failed, the last 1 did not"
    assert seen[5]["note"] is None
    assert seen[4]["since"] is None
    assert seen[5]["since"] is not None


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ([ValueError("no")] * 3, "failing"),
        ([ValueError("no")] * 2, "well"),
        ([ValueError("no")] * 3 + [hypothesis("yes")] * 18, "well"),
    ],
)
async def test_an_agent_that_failed_often_before_a_restart_is_not_well_after_it(
    tmp_path: Path, answers: list[Any], state: str
) -> None:
    half = says("half", *answers, breaker=Breaker(failures=9))
    async with serving(half, store=f"sqlite:///{tmp_path}/dialogs.db") as door:
        for number in range(len(answers)):
            await door.assistant.turn(f"{number}", user="ann")

    async with serving(half, store=f"sqlite:///{tmp_path}/dialogs.db") as door:
        _, listed = await get(door, "/api/console/agents")

    assert [one["state"] for one in listed["items"]] == [state]


async def test_failures_before_an_agent_was_left_alone_and_answered_count_no_more(
    tmp_path: Path,
) -> None:
    answers = [*[ValueError("no")] * 3, hypothesis("yes")]
    half = says("half", *answers, breaker=Breaker(failures=3, cooldown=1e6))
    async with serving(half, store=f"sqlite:///{tmp_path}/dialogs.db") as door:
        for number in range(4):
            await door.assistant.turn(f"{number}", user="ann")
        await post(door, "/api/console/agents/half/try")
        await door.assistant.turn("again", user="ann")

    async with serving(half, store=f"sqlite:///{tmp_path}/dialogs.db") as door:
        _, listed = await get(door, "/api/console/agents")

    assert [one["state"] for one in listed["items"]] == ["well"]


async def test_figures_over_time_count_turns_and_what_each_agent_did() -> None:
    wins = says("wins", hypothesis("hello", 0.9), card={"price": 0.5})
    fails = says("fails", ValueError("no"), breaker=Breaker(failures=9))
    async with serving(wins, fails) as door:
        for text in ("one", "two"):
            await door.assistant.turn(text, user="ann")
        await get(door, "/api/console/turns")  # it waits until both are recorded
        _, hours = await get(door, "/api/console/figures", days=1, step=3600)
        _, days = await get(door, "/api/console/figures", days=3)
        wrong = await get(door, "/api/console/figures", step=60)
        many = await get(door, "/api/console/figures", days=30, step=3600)

    assert (hours["step"], len(hours["at"]), len(days["at"])) == (3600, 24, 3)
    assert [sum(hours[kind]) for kind in ("turns", "failed", "none", "slow", "down")] == [
        2, 2, 0, 0, 0,
    ]  # fmt: skip
    agents = {one["agent"]: one for one in days["agents"]}
    totals = {
        name: tuple(sum(one[what]) for what in ("asked", "won", "failed", "cost"))
        for name, one in agents.items()
    }
    assert totals == {"wins": (2, 2, 0, 1.0), "fails": (2, 0, 2, 0.0)}
    assert [one for one in agents["wins"]["p99"] if one is not None] != []
    assert agents["fails"]["p99"] == [None] * 3
    assert [(status, said["field"]) for status, said in (wrong, many)] == [(400, "step")] * 2


async def test_an_agent_is_switched_off_and_on_by_name_and_its_breaker_let_try() -> None:
    chat = says(
        "chat",
        hypothesis("A"),
        ValueError("no"),
        hypothesis("B"),
        breaker=Breaker(failures=1, cooldown=1e6),
    )
    async with serving(chat, auth=NAMED) as door, door.other_visitor("key-of-eve") as eve:
        at, it = "/api/console/agents/chat", door.assistant
        status, off = await post(eve, f"{at}/switch", on=False)
        said = (await it.turn("hi", user="ann")).reply
        _, answer = await post(eve, f"{at}/alone", text="hi")
        _, on = await post(eve, f"{at}/switch", on=True)
        await it.turn("hi", user="ann")
        _, alone = await get(eve, at)
        _, trying = await post(eve, f"{at}/try")
        again = (await it.turn("hi", user="ann")).reply
        _, well = await get(eve, at)
        bad = [await post(eve, f"{at}/switch", on="no"), await post(eve, f"{at}/alone", text="")]
        async with eve.http.post(f"{at}/switch", data="on=1") as form:
            bad.append((form.status, None))

    assert status == 200
    assert off["state"] == "off"
    assert off["note"] == "switched off by eve"
    assert off["off_by"] == "eve"
    assert said.active_skill == ""
    assert again.text == "B"
    assert on["state"] == "well"
    assert answer["hypotheses"] == [hypothesis("A")]
    assert answer["error"] is None
    assert answer["code"] is None
    assert [alone["state"], trying["state"], well["state"]] == ["alone", "trying", "well"]
    assert [one[0] for one in bad] == [400] * 3


async def test_figures_failures_and_thumbs_outlive_the_process(tmp_path: Path) -> None:
    fails = says("fails", ValueError(HOSTILE), breaker=Breaker(failures=9))
    pipeline = Pipeline(skills=[says("chat", hypothesis("A", 0.9)), fails])
    for number in range(2):
        async with (
            Assistant(pipeline, store=f"sqlite:///{tmp_path / 'kept.db'}") as it,
            running(Listener(it, [Console(DoorContext(it))])) as url,
            aiohttp.ClientSession(url) as http,
        ):
            door = Door(url, http, it, None, None)  # type: ignore[arg-type]
            if number == 0:
                result = await it.turn("hi", user="ann")
                await it.archive.rate(result.reply.utt_id, 1, "ann")
            _, listed = await get(door, "/api/console/agents")
            _, failing = await get(door, "/api/console/agents/fails")
            _, month = await get(door, "/api/console/agents/chat", since=1.0, step=86400)

        agents = {one["name"]: one for one in listed["items"]}
        assert listed["turns"] == 1
        assert agents["chat"]["wins"] == 1
        assert agents["chat"]["up"] == 1
        assert agents["chat"]["down"] == 0
        (kind,) = failing["failures"]
        assert kind["code"] == "raised"
        assert kind["number"] == 1
        assert kind["utt_id"] == result.reply.utt_id
        assert HOSTILE in kind["error"]
        assert kind["dialog_id"] == result.dialog_id
        assert len(month["series"]["at"]) == 1
        assert month["series"]["failed"] == [0]


@pytest.mark.parametrize(
    ("service", "kind", "way"),
    [
        (Service("a", "https://me:pw@x.org:8/ask?key=k#f"), "http", "https://x.org:8/ask"),
        (
            Service("a", "https://x.org/bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/say"),
            "http",
            "https://x.org/…/say",
        ),
        (
            Service("a", "nats://me:pw@x.org,you:pw@y.org:1/weather?creds=f"),
            "nats",
            "nats://x.org,y.org:1/weather",
        ),
        (Service("a", "nats://me:pw@x.org/weather"), "nats", "nats://x.org/weather"),
        (Service("a", "mod:fun", process=True), "process", "mod:fun"),
        (
            Service("a", Call("npx it --key=s3cret", options={"key": "s"}), connector="command"),
            "command",
            "npx",
        ),
        (
            Service("a", find_way),
            "python",
            f"{find_way.__module__}:find_way",
        ),
        (
            Service("a", says("b", 1).target),
            "python",
            "prolocutor.testing.fake_service:FakeService",
        ),
    ],
)
def test_a_way_is_shown_without_secrets(service: Service, kind: str, way: str) -> None:
    assert find_way(service) == ServiceWay(kind, way)
