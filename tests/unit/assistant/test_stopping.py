"""A turn that is stopped: its services are cancelled, what was shown of its reply stays."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from prolocutor import Assistant, Pipeline, Service
from prolocutor.dialog import plain
from prolocutor.dialog.turn_events import Delta, ReplyGiven, TurnEvent, TurnStarted


class Poet:
    """Says some words, then waits; it notes what became of its calls."""

    def __init__(self) -> None:
        self.waits = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, request: dict[str, Any]) -> AsyncIterator[str]:
        text = request["human_utterances"][-1]["text"]
        if text != "a poem":
            yield f"You said {text}."
            return
        yield "Roses are "
        self.waits.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()


async def rows_of(assistant: Assistant, user: str = "ann") -> list[Any]:
    rows = await assistant.store.feed(user, 0)
    return [plain.decode(row.message) for row in rows if row.message is not None]


def an_assistant(skill: Any) -> Assistant:
    pipeline = Pipeline(skills=[Service("poet", skill, timeout=60.0)])
    return Assistant(pipeline, store="memory:", deadline=60.0)


async def test_shown_words_stay_and_are_marked_and_the_next_turn_works() -> None:
    poet = Poet()
    async with an_assistant(poet) as assistant:
        events: list[TurnEvent] = []
        async for event in assistant.stream("a poem", "ann"):
            events.append(event)
            if isinstance(event, Delta):
                assert assistant.stop("ann")
        after = await assistant.reply("hello", "ann")
        rows = await rows_of(assistant)
        await poet.cancelled.wait()

    assert isinstance(events[0], TurnStarted)
    assert isinstance(events[-1], ReplyGiven)
    stopped = events[-1].utterance
    assert stopped.text == "Roses are "
    assert stopped.active_skill == "poet"
    assert stopped.attributes["stopped"] is True
    assert rows[1]["text"] == "Roses are "
    assert rows[1]["stopped"] is True
    assert after.text == "You said hello."
    assert "stopped" not in rows[3]


async def test_a_turn_of_which_nothing_was_shown_says_that_it_was_stopped() -> None:
    poet = Poet()
    async with an_assistant(poet) as assistant:
        turn = asyncio.ensure_future(assistant.reply("a poem", "ann"))
        await poet.waits.wait()
        assert not assistant.stop("ann", "other")
        assert not assistant.stop("bob")
        assert assistant.stop("ann")
        reply = await turn

        assert reply.text == "Stopped."
        assert reply.active_skill == ""
        assert not assistant.stop("ann")


async def test_a_turn_that_waits_is_stopped_before_anybody_is_asked() -> None:
    poet = Poet()
    async with an_assistant(poet) as assistant:
        first = asyncio.ensure_future(assistant.reply("a poem", "ann"))
        await poet.waits.wait()
        second = asyncio.ensure_future(assistant.reply("hello", "ann"))
        await asyncio.sleep(0)
        assert assistant.stop("ann")
        assert assistant.stop("ann")

        assert [(await turn).text for turn in (first, second)] == ["Stopped."] * 2


async def test_an_ask_before_a_stopped_turn_stays_open() -> None:
    waits = asyncio.Event()

    async def asker(request: dict[str, Any]) -> dict[str, Any]:
        if "answer" in request:
            waits.set()
            await asyncio.Event().wait()
        return {"text": "Really?", "confidence": 1.0, "ask": "yesno"}

    async with an_assistant(asker) as assistant:
        await assistant.reply("hello", "ann")
        turn = asyncio.ensure_future(assistant.reply("yes", "ann"))
        await waits.wait()
        assistant.stop("ann")
        await turn
        waiting = await assistant.archive.waiting("ann")

    assert waiting is not None
    assert waiting.ask == "yesno"


async def test_a_skill_whose_texts_are_markdown_says_so_in_the_feed() -> None:
    async def writer(request: dict[str, Any]) -> dict[str, Any]:
        return {"text": "**bold**", "confidence": 1.0}

    pipeline = Pipeline(skills=[Service("writer", writer, format="markdown")])
    async with Assistant(pipeline, store="memory:") as assistant:
        await assistant.reply("hello", "ann")
        rows = await rows_of(assistant)

    assert rows[1]["format"] == "markdown"
    assert "format" not in rows[0]
