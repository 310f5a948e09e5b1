"""Conversations at the console: lists, one dialog, and how each reply came about."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.selection import Enough, Selection
from prolocutor.dialog.agent_state import dialog_to_state
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.console.channel import Console, ConsoleDoor
from prolocutor.testing.channel_kit import Door, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener
from prolocutor.web.titles import GIVEN_TITLE
from tests.integration.doors.fakes import get, post

BASE = "/api/console"


async def weather(request: dict[str, Any]) -> list[dict[str, Any]]:
    text = request["human_utterances"][-1]["text"]
    if "break" in text:
        raise RuntimeError("the sky fell")
    if "weather" not in text:
        return []
    city = text.split()[-1]
    return [{"text": "It rains.", "confidence": 0.9, "human_attributes": {"city": city}}]


async def llm(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": "I do not know.", "confidence": 0.3, "cost": 0.25}


async def route(request: dict[str, Any]) -> Selection:
    def more(hypotheses: list[Any], left: float, settled: list[str]) -> Selection | Enough:
        if hypotheses or "llm" in settled:
            return Enough("somebody knows")
        return Selection(["llm"] if settled else [], reason="nobody knows" if settled else "")

    return Selection(["weather"], more, "likely", "r-7")


PIPELINE = Pipeline(
    skill_selector=Service("router", route),
    skills=[
        Service("weather", weather, card={"price": 0.5, "description": "Weather."}),
        Service("llm", llm, card={"price": 9.0}),
    ],
)


@asynccontextmanager
async def a_console(
    store: str = "memory:", pipeline: Pipeline = PIPELINE, folder: Path = Path(), **options: Any
) -> AsyncIterator[Door]:
    async with Assistant(pipeline, store=store, deadline=6.0) as assistant:
        app = Listener(
            assistant,
            [Console(DoorContext(assistant, folder=folder), ConsoleDoor(**options))],
            auth=AccessPolicy(loopback=True),
        )
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield Door(url, http, assistant, app, None)  # type: ignore[arg-type]


async def listed(door: Door, **conditions: Any) -> list[dict[str, Any]]:
    status, page = await get(door, f"{BASE}/conversations", **conditions)
    assert status == 200, page
    items: list[dict[str, Any]] = page["items"]
    return items


async def settled(door: Door) -> None:
    recorder = door.assistant.records.recorder
    assert recorder is not None
    await recorder.settle()


@pytest.mark.parametrize("store", ["memory:", "sqlite"])
async def test_an_operator_finds_why_an_answer_came_about(store: str, tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/dialogs.db" if store == "sqlite" else store
    async with a_console(url) as door:
        told = await door.assistant.turn("the weather in Oslo", user="page:ann")
        await door.assistant.turn("the weather in Bergen", user="page:ann")
        broken = await door.assistant.turn("break it", user="page:bob", channel="x")
        await settled(door)

        ann, bob = sorted(await listed(door), key=lambda one: one["user"])
        (found,) = await listed(door, kind="failed")
        (by_agent,) = await listed(door, agent="llm", channel="x", words="break")
        counts = (await get(door, f"{BASE}/counts"))[1]
        hours = (await get(door, f"{BASE}/hours"))[1]
        status, dialog = await get(door, f"{BASE}/conversations/{told.dialog_id}")
        _, turn = await get(door, f"{BASE}/turns/{told.reply.utt_id.upper()}")
        _, second = await get(door, f"{BASE}/turns/{broken.reply.utt_id}")

    assert ann["said"] == "the weather in Bergen"
    assert ann["title"] == dialog["title"] == "Weather in Oslo"
    assert ann["reply"] == "It rains."
    assert ann["turns"] == 2
    assert bob["spoke"] == ["llm"]
    assert bob["flags"] == ["failed"]
    assert bob["failed"] == 1
    assert bob["cost"] == 0.75
    assert found == bob
    assert by_agent["user"] == "page:bob"
    assert by_agent["hit"] == broken.reply.utt_id
    assert counts == {
        "all": 2, "waits": 0, "taken": 0, "down": 0, "none": 0, "failed": 1, "slow": 0,
    }  # fmt: skip
    assert sum(hours["turns"]) == 3
    assert sum(hours["bad"]) == 1
    assert hours["step"] == 3600
    assert len(hours["at"]) == len(hours["turns"]) == len(hours["bad"]) >= 168
    assert status == 200
    assert dialog["user"] == "page:ann"
    assert dialog["dialog"] == "main"
    assert [one["said"] for one in dialog["items"]] == [
        "the weather in Oslo", "the weather in Bergen",
    ]  # fmt: skip
    assert dialog["items"][0]["utt_id"] == told.reply.utt_id
    assert dialog["previous"] is None
    assert dialog["next"] is None
    assert dialog["handover"] is None

    assert turn["active_skill"] == "weather"
    assert turn["by"] == "confidence"
    assert turn["cost"] == 0.5
    assert turn["version"] == {"router": "r-7"}
    assert turn["changes"] == [
        {"whose": "person", "part": "attributes", "key": "city", "by": ["weather"],
         "after": "Oslo"},
    ]  # fmt: skip
    assert [(one["name"], one["critical"]) for one in turn["services"]] == [
        ("router", True), ("weather", True), ("llm", False),
    ]  # fmt: skip
    assert [one["chosen"] for one in turn["hypotheses"]] == [True]

    (error,) = second["errors"]
    assert error["service"] == "weather"
    assert error["code"] == "raised"
    assert error["outcome"] == "failed"
    assert "the sky fell" in error["error"]
    assert [one["service"] for one in second["lost"]] == ["weather"]
    assert [(one["asked"], one["reason"]) for one in second["waves"]] == [
        (["weather"], "likely"), (["llm"], "nobody knows"), ([], "somebody knows"),
    ]  # fmt: skip
    assert second["started"] > 0
    assert second["attempt"] == 1
    assert second["flags"] == ["failed"]


async def test_dialogs_have_the_titles_that_their_persons_gave() -> None:
    async with a_console() as door:
        told = await door.assistant.turn("hello", user="page:ann")
        await settled(door)
        (greeted,) = await listed(door)
        await door.assistant.turn("the weather in Bergen", user="page:ann")
        await settled(door)
        (asked,) = await listed(door)
        await door.assistant.store.put_record("page:ann", GIVEN_TITLE, "main", b'"My trip"')
        (given,) = await listed(door)

    assert [one["title"] for one in (greeted, asked, given)] == [
        "hello", "Weather in Bergen", "My trip",
    ]  # fmt: skip
    assert given["dialog_id"] == told.dialog_id


async def test_pages_of_dialogs_and_of_turns_are_walked_both_ways() -> None:
    async with a_console() as door:
        for place in range(5):
            await door.assistant.turn(f"weather {place}", user=f"page:{place}")
        for place in range(6):
            last = await door.assistant.turn(f"weather and {place}", user="page:0")
        await settled(door)
        seen, cursor = [], {}
        for _ in range(3):
            _, page = await get(door, f"{BASE}/conversations", limit=2, **cursor)
            seen += [one["user"] for one in page["items"]]
            cursor = {"cursor": page["next"]}
        at = f"{BASE}/conversations/{last.dialog_id}"
        _, first = await get(door, at, limit=3)
        _, second = await get(door, at, limit=3, after=first["next"])
        _, newest = await get(door, at, limit=3, newest="true")
        _, before = await get(door, at, limit=3, before=newest["previous"])
        middle = second["items"][0]["utt_id"]
        _, around = await get(door, at, limit=3, around=middle)
        refused = [
            (await get(door, at, around="0" * 32))[0],
            (await get(door, f"{BASE}/conversations/{'0' * 32}"))[0],
            (await get(door, f"{BASE}/turns/{'0' * 32}"))[0],
            (await get(door, f"{BASE}/conversations", limit=201))[0],
            (await get(door, f"{BASE}/conversations", cursor="no cursor"))[0],
            (await get(door, f"{BASE}/conversations", kind="odd"))[0],
            (await get(door, f"{BASE}/hours", since=5, until=4))[0],
            (await get(door, f"{BASE}/hours", since=0))[0],
        ]

    assert sorted(seen) == [f"page:{place}" for place in range(5)]
    assert page["next"] is None
    assert [one["said"][-1] for one in (*first["items"], *second["items"])] == list("001234")
    assert first["previous"] is None
    assert second["previous"] is not None
    assert [one["said"][-1] for one in (*before["items"], *newest["items"])] == list("012345")
    assert newest["next"] is None
    assert middle in [one["utt_id"] for one in around["items"]]
    assert refused == [404, 404, 404, 400, 400, 400, 400, 400]


async def test_who_waits_for_a_person_is_a_kind_of_its_own() -> None:
    async with a_console() as door:
        taken = (await door.assistant.turn("weather here", user="page:ann")).dialog_id
        await door.assistant.turn("weather there", user="page:bob")
        await post(door, f"{BASE}/conversations/{taken}/take")
        await door.assistant.turn("is anybody there?", user="page:ann")
        await settled(door)

        (row,) = await listed(door, kind="taken")
        counts = (await get(door, f"{BASE}/counts"))[1]
        _, dialog = await get(door, f"{BASE}/conversations/{taken}")
        first, taking = [one["utt_id"] for one in dialog["items"][:2]]
        again = [(await get(door, f"{BASE}/turns/{one}"))[1]["again"] for one in (first, taking)]
        refused = await post(door, f"{BASE}/turns/{taking}/again")

        assert again == [True, False]
        assert refused[0] == 400
        assert row["dialog_id"] == taken
        assert row["flags"] == ["taken"]
        assert counts["all"] == 2
        assert counts["taken"] == 1
        assert counts["waits"] == 0
        assert dialog["handover"]["by"] == "local"
        assert [(one["said"], one["spoke"]) for one in dialog["items"]] == [
            ("weather here", ["weather"]), (None, ["operator"]), ("is anybody there?", []),
        ]  # fmt: skip


async def test_a_turn_that_its_person_stopped_is_marked_in_lists() -> None:
    asked = asyncio.Event()

    async def poet(request: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    pipeline = Pipeline(skills=[Service("poet", poet, timeout=60.0)])
    async with a_console(pipeline=pipeline) as door:
        turn = asyncio.ensure_future(door.assistant.turn("a poem", user="page:ann"))
        await asked.wait()
        door.assistant.stop("page:ann")
        id_ = (await turn).dialog_id
        await settled(door)
        (row,) = await listed(door)
        _, dialog = await get(door, f"{BASE}/conversations/{id_}")
        _, latest = await get(door, f"{BASE}/turns")

    shown = [row, *dialog["items"], *latest["items"]]
    assert [one["stopped"] for one in shown] == [True, True, True]


@pytest.mark.parametrize("path", ["conversations", "counts", "hours"])
@pytest.mark.parametrize("value", ["nan", "-inf", "soon"])
async def test_a_time_that_is_no_number_is_refused(path: str, value: str) -> None:
    async with a_console() as door:
        status, answer = await get(door, f"{BASE}/{path}?since={value}")

        assert status == 400
        assert answer["field"] == "since"


async def test_nothing_is_left_of_a_deleted_person() -> None:
    async with a_console() as door:
        told = await door.assistant.turn("weather in Oslo", user="page:ann")
        await settled(door)
        await door.assistant.archive.delete_person("page:ann")

        assert await listed(door) == await listed(door, words="oslo") == []
        assert (await get(door, f"{BASE}/turns/{told.reply.utt_id}"))[0] == 404
        assert (await get(door, f"{BASE}/conversations/{told.dialog_id}"))[0] == 404


CHANGED = """
records: false
skills:
  parrot: {call: changed_parrot_of_console:parrot}
"""
PARROT = """
async def parrot(request):
    said = [one["text"] for one in request["utterances"]]
    return {"text": " / ".join(said), "confidence": 1.0}
"""


async def test_a_turn_is_run_again_and_nothing_is_stored(tmp_path: Path) -> None:
    (tmp_path / "changed.yaml").write_text(CHANGED)
    (tmp_path / "changed_parrot_of_console.py").write_text(PARROT)
    calls: list[str] = []

    async def counting(request: dict[str, Any]) -> dict[str, Any]:
        city = request["human"]["attributes"].get("city")
        calls.append(request["turn_id"])
        text = f"number {len(calls)} after {city}"
        return {"text": text, "confidence": 0.5, "human_attributes": {"city": "Bergen"}}

    async def paying(request: dict[str, Any]) -> dict[str, Any]:
        calls.append("paid")
        return {"text": "paid", "confidence": 0.1}

    pipeline = Pipeline(
        skills=[Service("counting", counting), Service("paying", paying, rerun=False)]
    )
    others = {"changed": "changed.yaml"}
    async with (
        a_console(
            f"sqlite:///{tmp_path}/dialogs.db", pipeline, tmp_path, assistants=others
        ) as door,
        unimported("changed_parrot_of_console"),
    ):
        first = await door.assistant.turn("one", user="page:ann")
        second = await door.assistant.turn("two", user="page:ann")
        await settled(door)
        before = await everything(door)
        at = f"{BASE}/turns/{{}}/again"
        alive = await job_of(door, at.format(first.reply.utt_id))
        changed = await job_of(door, at.format(second.reply.utt_id), assistant="changed")
        refused = [
            (await post(door, at.format(second.reply.utt_id), assistant="odd"))[0],
            (await post(door, at.format("0" * 32)))[0],
        ]
        names = (await get(door, f"{BASE}/assistants"))[1]
        after = await everything(door)
        jobs = (await get(door, f"{BASE}/jobs"))[1]["items"]
        await door.assistant.archive.delete_person("page:ann")
        kept = await get(door, f"{BASE}/jobs/{jobs[0]['id']}")
        left = (await get(door, f"{BASE}/jobs"))[1]["items"]

    assert refused == [404, 404]
    assert len(jobs) == 2
    assert kept[0] == 404
    assert left == []
    assert names == {"items": ["changed"]}
    assert before == after
    then, now = alive["then"], alive["now"]
    assert then["text"] == "number 1 after None"
    assert now["text"] == "number 5 after None"
    assert alive["assistant"] is None
    assert now["spoke"] == "counting"
    outcomes = {one["name"]: one["outcome"] for one in now["record"]["services"]}
    assert outcomes == {"counting": "done", "paying": "skipped"}
    assert calls.count("paid") == 2
    assert now["record"]["changes"] == [
        {"whose": "person", "part": "attributes", "key": "city", "by": ["counting"],
         "after": "Bergen"},
    ]  # fmt: skip
    assert changed["now"]["text"] == "one / number 1 after None / two"
    assert changed["assistant"] == "changed"
    assert changed["now"]["spoke"] == "parrot"


async def job_of(door: Door, path: str, **body: Any) -> Any:
    """Start a job and return its result."""
    status, started = await post(door, path, **body)
    assert status == 202, started
    while True:
        _, job = await get(door, f"{BASE}/jobs/{started['job']}")
        if job["state"] not in ("waits", "runs"):
            assert job["state"] == "done", job
            return job["result"]


async def everything(door: Door) -> list[Any]:
    """Return all dialogs, and what is kept of them."""
    dialogs = [dialog_to_state(dialog) async for dialog in door.assistant.store.export()]
    return [dialogs, await listed(door), (await get(door, f"{BASE}/hours"))[1]["turns"]]


@asynccontextmanager
async def unimported(name: str) -> AsyncIterator[None]:
    """Forget a module of a temporary folder, and the folder."""
    path = [*sys.path]
    try:
        yield
    finally:
        sys.modules.pop(name, None)
        sys.path[:] = path
