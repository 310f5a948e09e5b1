"""Running programs are listed and stopped in words, and "more" goes on in results."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.plugins.almond.bookkeeping import intent_of_source
from tests.plugins.almond.unit.programs.gadgets import (
    Gadgets,
    messages,
    program,
    running,
    say,
    texts,
)
from tests.unit.assistant.askers import special

TWEETING = "monitor(@com.twitter.home_timeline());"
HOURLY = "timer(base=$now, interval=1h) => @com.xkcd.get_comic();"
DAILY = "attimer(time=[new Time(12, 30)]) => @thermostat.get_temperature();"
ALL = {TWEETING, HOURLY, DAILY}


async def left_after(*words: str) -> tuple[list[str], set[str]]:
    """Start three programs, say words, and return what was said and what still runs."""
    async with running(Gadgets()) as it:
        for source in (TWEETING, HOURLY, DAILY):
            await program(it, source)
        turns = [await say(it, text) for text in words]
        apps = await it.programs.apps("ann")
    kinds = {"monitor": TWEETING, "timer": HOURLY, "attimer": DAILY}
    return texts(turns[-1]), {kinds[app.code.partition("(")[0]] for app in apps}


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["stop everything"], set()),
        (["Please stop all my programs!"], set()),
        (["stop the timer about the comic"], {TWEETING, DAILY}),
        (["cancel the timer about temperature"], {TWEETING, HOURLY}),
        (["stop notifying me about tweets"], {HOURLY, DAILY}),
        (["stop the Twitter program"], {HOURLY, DAILY}),
        (["stop the monitor"], {HOURLY, DAILY}),
        (["stop the timer", "the first one"], {TWEETING, DAILY}),
        (["stop the timer", "all of them"], {TWEETING}),
        (["stop the timer", "never mind"], ALL),
        (["stop the timer about cheese"], ALL),
        (["stop it"], ALL),
        (["remove the milk"], ALL),
        (["what is running?"], ALL),
    ],
)
async def test_programs_are_stopped_by_their_subject(words: list[str], left: set[str]) -> None:
    assert (await left_after(*words))[1] == left


@pytest.mark.parametrize(
    "words",
    ["what is running?", "What's running", "list my programs", "which programs are running"],
)
async def test_running_programs_are_listed(words: str) -> None:
    [said], _ = await left_after(words)
    begin, *lines = said.splitlines()
    assert begin == "3 programs are running:"
    assert any("notify you of tweets whenever it changes" in line for line in lines)


async def test_without_programs_words_are_for_the_skills() -> None:
    async with running(Gadgets()) as it:
        listed = await say(it, "list my programs")
        running_words = await say(it, "what is running?")
        stopped = await say(it, "stop the timer about eggs")
    assert texts(listed) == ["You have no programs running."]
    assert texts(running_words) == ["re: what is running?"]
    assert texts(stopped) == ["re: stop the timer about eggs"]


@pytest.mark.parametrize(
    "came",
    [
        {"text": "more"},
        {"text": "Next!"},
        {"text": "show me more, please"},
        {"text": "", "parsed": special("more")},
        {"text": "", "parsed": {"code": ["$more", ";"], "entities": {}}},
        {"text": "", "program": "bookkeeping(more);"},
    ],
)
async def test_more_goes_on_in_results(came: dict[str, Any]) -> None:
    gadgets = Gadgets()
    gadgets.tables["items"] = [{"item": f"no {n}"} for n in range(1, 26)]
    async with running(gadgets) as it:
        first = await program(it, "@org.prolocutor.todo.items();")
        pages = [await it.turn(user="ann", **came) for _ in range(2)]
        over = await it.turn(user="ann", **came)
    assert [texts(turn)[-1] for turn in (first, *pages)] == [
        "And 15 more.",
        "And 5 more.",
        "item: no 25",
    ]
    assert len(texts(pages[1])) == 5
    assert "item" not in texts(over)[0]


@pytest.mark.parametrize("words", ["no", "stop", "never mind"])
async def test_no_more_is_silent(words: str) -> None:
    gadgets = Gadgets()
    gadgets.tables["items"] = [{"item": f"no {n}"} for n in range(1, 26)]
    async with running(gadgets) as it:
        await program(it, "@org.prolocutor.todo.items();")
        turn = await say(it, words)
    assert turn.ask is None
    assert [message for message in messages(turn) if message.get("text")] == []


def test_more_is_an_intent_in_both_generations() -> None:
    intents = [intent_of_source(source) for source in ("bookkeeping(more);", "$more;")]
    assert [intent.name for intent in intents if intent] == ["more", "more"]
