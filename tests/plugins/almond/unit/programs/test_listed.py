"""The programs that the contract lists, run from parsing to what is said."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.dialog import plain
from prolocutor.plugins.almond.programs.device_classes import KIND
from tests.plugins.almond.unit.programs.gadgets import (
    PLACES,
    Gadgets,
    messages,
    program,
    running,
    say,
    texts,
)
from tests.plugins.almond.unit.thingtalk.devices import LISTED, NEW, OLD, REFUSED

WATCHING = "Okay, I'm going to notify you of tweets whenever it changes."
ALL_TWEETS = ["alice: foo is here", "bob: Bar FOO", "HillaryClinton: lol bar"]
POSTING = (
    "Okay, I'm going to post picture with caption the title and picture url the picture url "
    "with comic whenever it changes."
)

SAID: dict[str, list[str]] = {
    NEW[0]: ["Okay, so you want me to tweet with status “lol”. Is that right?"],
    NEW[1]: ["What do you want to tweet?"],
    NEW[2]: ALL_TWEETS[:2],
    NEW[3]: [WATCHING, ALL_TWEETS[2]],
    NEW[4]: [WATCHING, *ALL_TWEETS],
    NEW[5]: [POSTING, "Done."],
    NEW[6]: [
        "text: foo is here, author: alice",
        "text: Bar FOO, author: bob",
        "text: lol bar, author: HillaryClinton",
    ],
    NEW[7]: [WATCHING, *ALL_TWEETS[:2]],
    NEW[8]: [WATCHING, *ALL_TWEETS[:2]],
    NEW[9]: ["Okay, I'm going to notify you every day at 12:30."],
    NEW[10]: ["Okay, I'm going to notify you of comic every hour."],
    NEW[11]: ["Done."],
    NEW[12]: ["Okay, I'm going to notify you of temperature whenever it changes.", "value: 30 °C"],
    NEW[13]: ["low estimate: 60 USD, uber type: uber_x"],
    NEW[14]: ["The count is 3."],
    NEW[15]: ["title: Sheep"],
    NEW[16]: ["Sorry, I did not ask for anything."],
    OLD[0]: ["Done."],
    OLD[1]: ["video url: http://www.youtube.com, title: LOL"],
    OLD[2]: [POSTING, "Done."],
    OLD[3]: ["Okay, I'm going to notify you every day at 12:30."],
    OLD[4]: [
        "Okay, I'm going to notify you of current with location “Somewhere” whenever it changes.",
        "temperature: 20 °C, status: sunny",
    ],
    OLD[5]: ["There is nothing to choose from now."],
}
ASKED = {NEW[0]: "yesno", NEW[1]: "raw_string"}


@pytest.mark.parametrize("source", LISTED)
async def test_a_listed_program_runs(source: str) -> None:
    async with running(Gadgets()) as it:
        await _live_somewhere(it)
        for id_ in ("com.xkcd-6", "com.twitter-foo"):
            body = plain.encode({"kind": id_.partition("-")[0]})
            await it.store.put_record("ann", KIND, id_, body)
        turn = await program(it, source)
    assert texts(turn) == SAID[source]
    assert turn.ask == ASKED.get(source)


@pytest.mark.parametrize("source", REFUSED)
async def test_an_unsupported_construct_is_refused_by_its_name(source: str) -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        turn = await program(it, source)
    [said] = texts(turn)
    assert REFUSED[source][0] in said
    assert turn.ask is None
    assert gadgets.asked == []


async def test_a_picture_is_shown_as_one() -> None:
    async with running(Gadgets()) as it:
        turn = await program(it, "@com.xkcd.get_comic();")
    assert messages(turn)[1] == {
        "type": "picture",
        "url": "https://xkcd.example/2.png",
        "icon": "gadgets",
    }


async def test_a_device_that_nobody_is_has_its_name_told() -> None:
    async with running(Gadgets()) as it:
        turn = await say(it, "\\t @a.b();")
    assert "@a.b();" in turn.reply.text
    assert turn.ask is None


async def test_an_executed_statement_is_told_of_before_its_text() -> None:
    async with running(Gadgets()) as it:
        turn = await program(it, "count(@com.twitter.home_timeline());")
    first, second = turn.state["attributes"]["messages"]
    assert first["type"] == "new-program"
    assert first["code"] == "count(@com.twitter.home_timeline());"
    assert first["results"] == [{"count": 3}]
    assert first["errors"] == []
    assert second["text"] == "The count is 3."


async def _live_somewhere(it: Any) -> None:
    """Let ann's home and work be known, as a skill would have learned them."""
    keep = {"results": [{"time": "1:00:00"}], "human_attributes": PLACES}
    gadgets = it.engine.prepared.skill_steps["gadgets"].service.call.target
    usual = gadgets.tables["get_time"]
    gadgets.tables["get_time"] = keep
    await program(it, "@org.thingpedia.builtin.thingengine.builtin.get_time();")
    gadgets.tables["get_time"] = usual
