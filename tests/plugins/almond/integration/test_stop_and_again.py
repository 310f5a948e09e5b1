"""What the chat page adds to the wire: stopping a turn, sending again by key, asking again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tests.plugins.almond.integration.wire import demonstrated, kinds, opened, summary


class Slow:
    """A skill of which "wait" takes until it is cancelled."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.calls = 0
        self.seen: list[dict[str, Any]] = []

    async def __call__(self, request: dict[str, Any]) -> AsyncIterator[str]:
        self.calls += 1
        said = request["human_utterances"][-1]
        self.seen.append(said["attributes"])
        yield f"You said {said['text']}"
        if said["text"] == "wait":
            self.entered.set()
            await asyncio.Event().wait()


async def test_a_stop_ends_the_turn_with_the_words_so_far() -> None:
    slow = Slow()
    async with demonstrated(slow, deadline=60.0) as door, opened(door, "?events=1") as ann:
        await ann.send(type="command", text="wait")
        frame = await ann.receive()
        while frame.get("event", {}).get("type") != "Delta":
            frame = await ann.receive()
        await ann.send(type="stop")
        frames = [one for one in await ann.until_asked() if one["type"] == "text"]
        after = [one for one in await ann.say("hello") if one["type"] != "event"]

    assert frames[0]["text"] == "You said wait"
    assert frames[0]["stopped"] is True
    assert summary(after) == ["command", "You said hello", [None]]


async def test_a_stop_right_after_the_words_counts_for_them() -> None:
    slow = Slow()
    async with demonstrated(slow, deadline=60.0) as door, opened(door) as ann:
        await ann.send(type="command", text="wait")
        await ann.send(type="stop")
        frames = await ann.until_asked()
        await ann.send(type="stop")
        after = await ann.say("hello")

    assert summary(frames) == ["command", "Stopped.", [None]]
    assert summary(after) == ["command", "You said hello", [None]]


async def test_who_comes_back_is_told_that_a_turn_runs() -> None:
    slow = Slow()
    async with demonstrated(slow, deadline=60.0) as door, opened(door) as ann:
        await ann.send(type="command", text="wait")
        await slow.entered.wait()
        async with opened(door, "?events=1") as again, opened(door) as other:
            frames = [await again.receive()]
            await again.send(type="stop")
            frames += await again.until_asked()
            seen = await other.until_asked()

    assert frames[0] == {"type": "event", "event": {"type": "TurnRuns"}}
    assert "Stopped." in summary(frames)
    assert summary(seen) == ["Stopped.", [None]]


async def test_the_same_key_is_one_turn_on_any_line() -> None:
    slow = Slow()
    async with demonstrated(slow) as door:
        async with opened(door, "?events=1") as ann:
            await ann.send(type="command", text="hello", key="k1")
            await ann.until_asked()
        async with opened(door, "?events=1&after=1") as ann:
            await ann.send(type="command", text="hello", key="k1")
            again = await ann.until_asked()
            await ann.send(type="command", text="another", key="k1")
            other = await ann.until_asked()
            await ann.send(type="command", text="hello", key="")
            wrong = await ann.until_asked()

    assert kinds([one for one in again if one["type"] != "event"]) == ["askSpecial"]
    assert [one["code"] for one in (other[0], wrong[0])] == ["conflict", "bad_input"]
    assert slow.calls == 1


async def test_words_that_are_asked_again_name_the_reply_they_replace() -> None:
    slow = Slow()
    async with demonstrated(slow) as door, opened(door) as ann:
        first = await ann.say("helo")
        await ann.send(type="command", text="hello", again_of=first[1]["utt_id"])
        frames = await ann.until_asked()
        await ann.send(type="command", text="hello", again_of="nothing")
        wrong = await ann.until_asked()

    assert frames[0]["again_of"] == first[1]["utt_id"]
    assert slow.seen[1]["again_of"] == first[1]["utt_id"]
    assert "again_of" not in first[0]
    assert wrong[0]["code"] == "bad_input"
    assert kinds(wrong) == ["error", "askSpecial"]
