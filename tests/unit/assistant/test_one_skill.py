"""Talking to one skill alone: it is asked, nobody else is, also while something is asked."""

from __future__ import annotations

import pytest

from prolocutor.assistant.rounds import own_words
from prolocutor.errors import Conflict, NotFound
from prolocutor.plan.pipeline import Service
from tests.unit.assistant.talks import assistant
from tests.unit.pipeline.talk import asked, hypothesis, says


def asks(*answers: object) -> Service:
    return says("asks", [{"text": "How many?", "ask": "number", "confidence": 0.2}], *answers)


async def test_the_skill_alone_is_asked_and_replies_whatever_others_would_say() -> None:
    loud, shy = says("loud", hypothesis("me!", 1.0)), says("shy", hypothesis("hm", 0.1))
    async with assistant(loud, shy) as it:
        reply = await it.reply("yes", "ann", skill="shy")

    assert reply.text == "hm"
    assert reply.active_skill == "shy"
    assert len(asked(loud)) == 0


async def test_its_ask_is_answered_and_repeated_after_any_other_text() -> None:
    loud, waits = says("loud", hypothesis("me!", 1.0)), asks(hypothesis("thanks"))
    async with assistant(loud, waits) as it:
        await it.turn("hi", user="ann", skill="asks")
        again = await it.turn("tell me a joke", user="ann", skill="asks")
        answered = await it.turn("5", user="ann", skill="asks")

    assert again.ask == "number"
    assert answered.reply.text == "thanks"
    assert len(asked(loud)) == 0
    assert asked(waits)[-1]["answer"]["value"] == 5


async def test_the_ask_of_another_skill_is_over_and_this_skill_is_told() -> None:
    waits, other = asks(hypothesis("noted")), says("other", hypothesis("here"))
    async with assistant(waits, other) as it:
        await it.turn("hi", user="ann", skill="asks")
        result = await it.turn("5", user="ann", skill="other")

    assert result.reply.text == "here"
    assert result.ask is None
    assert asked(waits)[-1]["answer"] == {"kind": "cancelled"}


async def test_a_skill_that_declines_is_not_replaced_by_another() -> None:
    loud, silent = says("loud", hypothesis("me!", 1.0)), says("silent", [])
    async with assistant(loud, silent) as it:
        reply = await it.reply("hi", "ann", skill="silent")

    assert reply.text == own_words.CANNOT_HELP
    assert len(asked(loud)) == 0


async def test_an_unknown_skill_is_named_with_those_that_there_are() -> None:
    async with assistant(says("hotel"), says("bank")) as it:
        with pytest.raises(NotFound, match=r"did you mean 'hotel'\?. The skills are: hotel, bank"):
            await it.reply("hi", "ann", skill="hotels")


async def test_the_same_request_for_another_skill_is_a_conflict() -> None:
    async with assistant(says("one", hypothesis("1")), says("two", hypothesis("2"))) as it:
        await it.reply("hi", "ann", request_id="r", skill="one")
        with pytest.raises(Conflict):
            await it.reply("hi", "ann", request_id="r", skill="two")
