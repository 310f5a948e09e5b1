"""Listeners learn what happens in a turn as it happens; the turn never waits for them."""

import asyncio
import gc

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_stream import MAX_UNREAD, TurnStream
from prolocutor.dialog.turn_events import (
    Delta,
    Replaced,
    ReplyGiven,
    ServiceAsked,
    ServiceSettled,
    StageEnded,
    StageStarted,
    TurnEvent,
    TurnStarted,
)
from prolocutor.errors import BadInput, Conflict, StoreFull
from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.assistant.talks import FaultyStore, assistant, echo
from tests.unit.pipeline.talk import Gate, hypothesis, says


async def events_of(stream: TurnStream) -> list[TurnEvent]:
    return [event async for event in stream]


def assembled(events: list[TurnEvent]) -> str:
    """Return the text that a listener shows after these events."""
    text = ""
    for event in events:
        if isinstance(event, Delta):
            text += event.text
        elif isinstance(event, Replaced):
            text = ""
        elif isinstance(event, ReplyGiven):
            text = event.utterance.text
    return text


def named(events: list[TurnEvent]) -> list[str]:
    """Write events in a short form."""
    names = []
    for event in events:
        match event:
            case StageStarted(stage) | StageEnded(stage):
                names.append(f"{type(event).__name__} {stage}")
            case ServiceAsked(service, _):
                names.append(f"asked {service}")
            case ServiceSettled(service, _, outcome, _):
                names.append(f"{outcome} {service}")
            case _:
                names.append(type(event).__name__)
    return names


async def test_stages_and_services_are_announced_and_the_reply_comes_last() -> None:
    pipeline = Pipeline(
        annotators=[says("mood", "good")],
        skill_selector=says("chooser", ["echo", "broken"]),
        skills=[echo(), says("broken", ValueError("no")), says("unasked", [])],
        postprocessors=[says("loud", "HI")],
    )
    async with Assistant(pipeline, store="memory:") as it:
        events = await events_of(it.stream("hi", user="ann"))

    assert named(events) == [
        "TurnStarted",
        "StageStarted annotators",
        "asked mood",
        "done mood",
        "StageEnded annotators",
        "StageStarted skill_selector",
        "asked chooser",
        "done chooser",
        "StageEnded skill_selector",
        "StageStarted skills",
        "asked echo",
        "asked broken",
        "done echo",
        "failed broken",
        "StageEnded skills",
        "StageStarted postprocessors",
        "asked loud",
        "done loud",
        "StageEnded postprocessors",
        "ReplyGiven",
    ]
    last = events[-1]
    assert isinstance(last, ReplyGiven)
    assert last.utterance.text == "HI"
    assert assembled(events) == "HI"
    assert last.repeated is False
    assert events[0] == TurnStarted(last.turn_id, last.dialog_id, last.utterance.utt_id)


async def test_who_is_asked_is_known_while_it_is_asked() -> None:
    gate = Gate(hypothesis("at last"))
    async with assistant(Service("slow", gate)) as it:
        stream = it.stream("hi", user="ann")
        async with asyncio.timeout(60):
            async for event in stream:
                if isinstance(event, ServiceAsked):
                    gate.opened.set()
    assert isinstance(event, ReplyGiven)
    assert event.utterance.text == "at last"


async def test_a_request_sent_again_gets_the_stored_reply_alone() -> None:
    async with assistant() as it:
        first = await it.turn("hi", user="ann", request_id="1")
        events = await events_of(it.stream("hi", user="ann", request_id="1"))
        with pytest.raises(Conflict):
            await events_of(it.stream("ho", user="ann", request_id="1"))

    (only,) = events
    assert isinstance(only, ReplyGiven)
    assert only.utterance == first.reply
    assert only.repeated is True


async def test_an_exception_of_the_turn_is_raised_by_the_iterator_once() -> None:
    store = FaultyStore()
    async with assistant(store=store) as it:
        with pytest.raises(BadInput):
            it.stream("x" * 1_000_000, user="ann")
        store.finishes_to_fail = 1
        stream = it.stream("hi", user="ann")
        with pytest.raises(StoreFull):
            await events_of(stream)
        assert await events_of(stream) == []


async def test_leaving_the_iterator_only_stops_listening() -> None:
    gate = Gate(hypothesis("late"))
    async with assistant(Service("slow", gate)) as it:
        stream = it.stream("hi", user="ann")
        async for _ in stream:
            break
        await stream.aclose()
        assert await events_of(stream) == []
        del stream
        gc.collect()
        gate.opened.set()
        await it.turn("hi", user="ann")
        rows = await it.store.feed("ann", 0)
    assert b"late" in rows[1].message  # type: ignore[operator]


async def test_words_that_wait_are_joined_and_a_slow_listener_loses_them() -> None:
    stream = TurnStream()
    for _ in range(3):
        stream.take(Delta("a", "ab"))
    assert await anext(stream) == Delta("a", "ababab")
    stream.take(Delta("a", "c" * MAX_UNREAD))
    stream.take(Delta("a", "d"))
    stream.take(Delta("a", "e"))
    assert await anext(stream) == Replaced()
