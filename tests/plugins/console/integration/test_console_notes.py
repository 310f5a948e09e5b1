"""What operators note of turns at the console, data sets of tagged turns, and runs on them."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.console import run_endpoints
from prolocutor.testing.channel_kit import Door
from tests.integration.doors.fakes import get, post
from tests.plugins.console.integration.test_console_conversations import (
    BASE,
    a_console,
    listed,
    settled,
)


async def note(door: Door, utt_id: str, **said: Any) -> tuple[int, Any]:
    async with door.http.put(f"{BASE}/turns/{utt_id}/note", json=said) as answer:
        return answer.status, await answer.json()


async def data_set(door: Door, tag: str) -> list[dict[str, Any]]:
    async with door.http.get(f"{BASE}/data-set", params={"tag": tag}) as answer:
        assert answer.status == 200, await answer.text()
        return [json.loads(line) for line in (await answer.text()).splitlines()]


async def test_a_turn_has_tags_and_a_comment_and_is_found_by_them() -> None:
    async with a_console() as door:
        told = await door.assistant.turn("the weather in Oslo", user="page:ann")
        await door.assistant.turn("nobody knows", user="page:bob")
        status, made = await note(
            door, told.reply.utt_id, tags=["odd", " rain ", "odd"], comment=" Why? "
        )
        await settled(door)
        _, turn = await get(door, f"{BASE}/turns/{told.reply.utt_id}")
        found = await listed(door, tag="odd")
        counts = (await get(door, f"{BASE}/counts", tag="odd"))[1]
        tags = (await get(door, f"{BASE}/tags"))[1]
        await note(door, told.reply.utt_id)
        without = await listed(door, tag="odd")

    assert status == 200
    assert made["tags"] == ["odd", "rain"]
    assert made["comment"] == "Why?"
    assert turn["note"] == made
    assert made["by"] == "local"
    assert [one["user"] for one in found] == ["page:ann"]
    assert counts["all"] == 1
    assert tags == {"tags": {"odd": 1, "rain": 1}}
    assert without == []


async def test_only_a_reply_can_be_noted() -> None:
    async with a_console() as door:
        assert (await note(door, "0" * 32, tags=["odd"]))[0] == 404


async def test_notes_are_deleted_with_their_person() -> None:
    async with a_console() as door:
        told = await door.assistant.turn("the weather in Oslo", user="page:ann")
        await settled(door)
        await note(door, told.reply.utt_id, tags=["odd"])
        await door.assistant.archive.delete_person("page:ann")

        assert (await get(door, f"{BASE}/tags"))[1] == {"tags": {}}


async def test_tagged_turns_are_a_data_set_with_what_was_said_before_and_what_is_right() -> None:
    async with a_console() as door:
        await door.assistant.turn("hello", user="page:ann")
        told = await door.assistant.turn("the weather in Oslo", user="page:ann")
        other = await door.assistant.turn("who won", user="page:bob")
        await settled(door)
        for one in (told, other):
            await note(door, one.reply.utt_id, tags=["mine"])
        label = {"work": other.reply.utt_id, "agents": ["llm"], "answer": "Norway."}
        await post(door, f"{BASE}/labels", **label)
        before, asked, corrected = await data_set(door, "mine")
        unknown = (await get(door, f"{BASE}/data-set", tag="nothing"))[0]

    assert before["text"] == "hello"
    assert "labels" not in before
    assert before["episode_done"] is False
    assert (asked["text"], asked["labels"], asked["domain"]) == (
        "the weather in Oslo", ["It rains."], "weather",
    )  # fmt: skip
    assert corrected["labels"] == ["Norway."]
    assert corrected["agents"] == ["llm"]
    assert unknown == 404


async def test_the_list_is_sorted_by_a_figure_over_its_pages() -> None:
    async with a_console() as door:
        for user, turns in (("page:ann", 2), ("page:bob", 3), ("page:cy", 1)):
            for n in range(turns):
                await door.assistant.turn(f"weather in {n}", user=user)
        await settled(door)
        seen, cursor = [], None
        while True:
            given = {} if cursor is None else {"cursor": cursor}
            page = (await get(door, f"{BASE}/conversations", order="turns", limit=1, **given))[1]
            seen += [one["user"] for one in page["items"]]
            if (cursor := page["next"]) is None:
                break

    assert seen == ["page:bob", "page:ann", "page:cy"]


FILE = """
records: false
skills:
  parrot: {call: "parrot_of_runs:parrot"}
"""
PARROT = """
async def parrot(request):
    return {"text": request["utterances"][-1]["text"].upper(), "confidence": 1.0}
"""


async def run_of(door: Door, **body: Any) -> dict[str, Any]:
    status, started = await post(door, f"{BASE}/runs", **body)
    assert status == 202, started
    while True:
        job: dict[str, Any] = (await get(door, f"{BASE}/jobs/{started['job']}"))[1]
        if job["state"] not in ("waits", "runs"):
            return job
        await asyncio.sleep(0.05)


async def test_an_evaluation_is_started_on_tagged_turns_and_listed(tmp_path: Path) -> None:
    (tmp_path / "changed.yaml").write_text(FILE)
    (tmp_path / "parrot_of_runs.py").write_text(PARROT)

    async def parrot(request: dict[str, Any]) -> dict[str, Any]:
        return {"text": request["utterances"][-1]["text"].upper(), "confidence": 1.0}

    pipeline = Pipeline(skills=[Service("parrot", parrot)])
    options = {"runs": "runs", "assistants": {"changed": "changed.yaml"}}
    async with a_console("memory:", pipeline, tmp_path, **options) as door:
        told = await door.assistant.turn("hello", user="page:ann")
        await settled(door)
        await note(door, told.reply.utt_id, tags=["greetings"])
        possible = (await get(door, f"{BASE}/possible-runs"))[1]
        job = await run_of(door, name="my run", assistant="changed", tag="greetings")
        runs = (await get(door, f"{BASE}/runs"))[1]["items"]
        again = await post(
            door, f"{BASE}/runs", name="my run", assistant="changed", tag="greetings"
        )
        await door.assistant.archive.delete_person("page:ann")
        rows = (await get(door, f"{BASE}/runs/my-run/rows"))[1]["items"]

    assert possible == {"assistants": ["changed"], "data": []}
    assert (job["state"], job["result"]) == ("done", {"name": "my-run"}), job
    (run,) = runs
    assert run["name"] == "my-run"
    assert run["examples"] == 1
    assert run["failed"] == 0
    assert {one["name"]: one["value"] for one in run["figures"]}["accuracy"] == 1.0
    assert again[0] == 400
    assert rows == []


async def test_an_evaluation_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "changed.yaml").write_text("skills: {parrot: {call: nowhere_at_all:parrot}}")
    options = {"runs": "runs", "assistants": {"changed": "changed.yaml"}}
    async with a_console(folder=tmp_path, **options) as door:
        told = await door.assistant.turn("the weather in Oslo", user="page:ann")
        await settled(door)
        await note(door, told.reply.utt_id, tags=["odd"])
        job = await run_of(door, name="r", assistant="changed", tag="odd")
        refused = [
            (await post(door, f"{BASE}/runs", **{"name": "r", **body}))[0]
            for body in ({"assistant": "nobody", "tag": "odd"}, {"assistant": "changed"})
        ]
        nameless = await post(door, f"{BASE}/runs", name="---", assistant="changed", tag="odd")

    assert (job["state"], "nowhere_at_all" in job["error"]) == ("failed", True), job
    assert refused == [404, 400]
    assert nameless[0] == 400
    assert "no letter" in nameless[1]["error"]


class OneAtATime:
    """A reader of runs that notes whether two threads read at once."""

    def __init__(self) -> None:
        self.running = self.most = 0

    def list_runs(self) -> list[Any]:
        self.running += 1
        self.most = max(self.most, self.running)
        threading.Event().wait(0.01)
        self.running -= 1
        return []


async def test_runs_are_read_by_one_thread_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a type that two threads meet first, msgspec may read what is not made yet.
    reader = OneAtATime()
    monkeypatch.setattr(run_endpoints, "_make_reader", lambda folder: reader)
    async with a_console(folder=tmp_path, runs="runs") as door:
        await asyncio.gather(*[get(door, f"{BASE}/runs") for _ in range(5)])

    assert reader.most == 1
