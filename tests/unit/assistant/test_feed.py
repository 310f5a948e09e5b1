"""The feed: everything said to or by a person, numbered without gaps; wake-ups are hints."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.feed import reply_messages, row_of_input
from prolocutor.assistant.turn_stream import FeedMessage
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.plan.pipeline import Pipeline
from tests.model_store import ModelStore
from tests.unit.assistant.talks import assistant, echo
from tests.unit.pipeline.talk import hypothesis, says, settle_down


async def take(feed: AsyncIterator[FeedMessage], number: int) -> list[FeedMessage]:
    """Take so many messages from a feed that is there for this alone."""
    taken = [await anext(feed) for _ in range(number)]
    await feed.aclose()  # type: ignore[attr-defined]
    return taken


def texts(messages: list[FeedMessage]) -> list[str]:
    return [one.message.get("command") or one.message["text"] for one in messages]


async def test_words_of_both_sides_are_in_the_feed() -> None:
    async with assistant() as it:
        result = await it.turn("hi", user="ann")
        messages = await take(it.feed("ann"), 2)
    assert [one.n for one in messages] == [1, 2]
    assert {one.dialog_id for one in messages} == {result.dialog_id}
    assert [one.message for one in messages] == [
        {"type": "command", "command": "hi"},
        {"type": "text", "text": "re: hi", "icon": "echo", "utt_id": result.reply.utt_id},
    ]


async def test_a_follower_gets_new_messages() -> None:
    async with assistant() as it:
        following = asyncio.create_task(take(it.feed("ann"), 4))
        await settle_down()
        await it.reply("a", user="ann")
        await it.reply("b", user="ann")
        assert texts(await following) == ["a", "re: a", "b", "re: b"]


async def test_the_words_of_a_person_reach_other_clients_before_the_reply() -> None:
    answer = asyncio.Event()

    async def slow(request: Any) -> Any:
        await answer.wait()
        return hypothesis("at last")

    async with assistant(says("slow", slow, timeout=60.0)) as it:
        asking = asyncio.create_task(it.reply("hi", user="ann"))
        assert texts(await take(it.feed("ann"), 1)) == ["hi"]
        answer.set()
        await asking


async def test_a_client_that_comes_back_goes_on_where_it_was() -> None:
    async with assistant() as it:
        for text in "abc":
            await it.reply(text, user="ann")
        assert texts(await take(it.feed("ann", after=3), 3)) == ["re: b", "c", "re: c"]


async def test_a_long_feed_is_given_whole_and_in_order() -> None:
    async with assistant() as it:
        await asyncio.gather(*(it.reply(str(n), user="ann") for n in range(100)))
        more = [asyncio.create_task(it.reply(str(n), user="ann")) for n in range(100, 160)]
        messages = await take(it.feed("ann"), 320)
        await asyncio.gather(*more)
    assert [one.n for one in messages] == list(range(1, 321))
    assert texts(messages)[::2] == [str(n) for n in range(160)]


async def test_several_followers_get_the_same() -> None:
    async with assistant() as it:
        followers = [asyncio.create_task(take(it.feed("ann"), 2)) for _ in range(3)]
        await settle_down()
        await it.reply("hi", user="ann")
        one, *others = await asyncio.gather(*followers)
    assert others == [one, one]


async def test_nobody_gets_messages_to_somebody_else() -> None:
    async with assistant() as it:
        await it.reply("secret", user="bob")
        await it.reply("mine", user="ann")
        assert texts(await take(it.feed("ann"), 2)) == ["mine", "re: mine"]


async def test_all_dialogs_of_a_person_are_one_feed() -> None:
    async with assistant() as it:
        await it.reply("a", user="ann")
        await it.reply("b", user="ann", dialog="other")
        messages = await take(it.feed("ann"), 4)
    assert [one.n for one in messages] == [1, 2, 3, 4]
    assert len({one.dialog_id for one in messages}) == 2


async def test_numbers_ascend_though_the_person_was_deleted() -> None:
    async with assistant() as it:
        await it.reply("a", user="ann")
        await it.archive.delete_person("ann")
        await it.reply("b", user="ann")
        messages = await take(it.feed("ann", after=2), 2)
    assert [(one.n, text) for one, text in zip(messages, texts(messages), strict=True)] == [
        (3, "b"),
        (4, "re: b"),
    ]


async def test_a_wake_up_that_is_missed_loses_nothing() -> None:
    async with assistant() as it:
        feed = it.feed("ann")
        await it.reply("a", user="ann")
        assert texts([await anext(feed), await anext(feed)]) == ["a", "re: a"]
        await it.reply("b", user="ann")
        await it.reply("c", user="ann")
        assert texts(await take(feed, 4)) == ["b", "re: b", "c", "re: c"]


async def test_a_follower_rests_while_nothing_comes() -> None:
    looks = 0

    class Counts(ModelStore):
        async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
            nonlocal looks
            looks += 1
            return await super().feed(user, after, limit)

    async with assistant(store=Counts()) as it:
        await it.reply("hi", user="ann")
        following = asyncio.create_task(take(it.feed("ann"), 3))
        await settle_down()
        it.feeds.wake("ann")
        await settle_down()
        seen = looks
        await settle_down()
        assert looks == seen
        following.cancel()


async def test_no_memory_is_kept_of_followers_who_left() -> None:
    async with assistant() as it:
        following = asyncio.create_task(take(it.feed("ann"), 1))
        await settle_down()
        following.cancel()
        await settle_down()
        assert followers(it) == 0


def followers(it: Assistant) -> int:
    return sum(len(events) for events in it.feeds._events.values())


async def test_a_reply_that_was_put_together_names_all_who_speak() -> None:
    skills = [says(one, hypothesis(f"{one}.", 0.9)) for one in ("sums", "clock")]
    named = ["sums.0", "clock.0"]
    both = {**hypothesis("sums. clock.", 1), "skill_name": "sums", "hypotheses": named}
    pipeline = Pipeline(skills=skills, response_selector=says("selector", both))
    async with Assistant(pipeline, store="memory:") as it:
        await it.reply("both?", user="ann")
        [_, told] = await take(it.feed("ann"), 2)

    assert told.message["text"] == "sums. clock."
    assert told.message["skills"] == ["sums", "clock"]


async def test_the_rich_messages_of_a_reply_are_rows_of_their_own() -> None:
    messages = [{"type": "picture", "url": "a.png", "icon": "own"}, {"type": "text", "text": "b"}]
    async with assistant(says("chat", hypothesis(messages=messages))) as it:
        await it.reply("hi", user="ann")
        rows = (await take(it.feed("ann"), 3))[1:]
    assert [(one.message["type"], one.message["icon"]) for one in rows] == [
        ("picture", "own"),
        ("text", "chat"),
    ]


@pytest.mark.parametrize("messages", [[], ["no object"], [{"text": "no type"}]])
def test_an_invalid_message_leaves_the_text(messages: Any) -> None:
    [row] = reply_messages("hello", messages, "", "1")
    assert plain.decode(row) == {"type": "text", "text": "hello", "icon": None, "utt_id": "1"}


async def test_a_feed_of_somebody_unknown_waits_for_the_first_word() -> None:
    async with assistant(echo()) as it:
        following = asyncio.create_task(take(it.feed("new"), 1))
        await settle_down()
        assert not following.done()
        await it.reply("hi", user="new")
        assert texts(await following) == ["hi"]


def test_a_result_is_said_before_it_is_shown() -> None:
    result = {"type": "result", "result": {}, "fallback": "It is 21 degrees."}

    rows = [plain.decode(row) for row in reply_messages("", [result], "sky", "u")]

    assert [(row["type"], row["icon"]) for row in rows] == [("text", "sky"), ("result", "sky")]
    assert rows[0]["text"] == "It is 21 degrees."


def test_a_result_that_was_said_by_its_skill_is_not_said_again() -> None:
    said = {"type": "text", "text": "It is 21 degrees."}
    result = {"type": "result", "result": {}, "fallback": "It is 21 degrees."}

    assert len(reply_messages("", [said, result], "sky", "u")) == 2


def test_a_parsed_input_is_in_the_echo() -> None:
    row = plain.decode(
        row_of_input(TurnInput("Help", "ann", parsed={"code": ["help"]}), b'"Help"', "u")
    )

    assert row == {"type": "command", "command": "Help", "json": {"code": ["help"]}}
