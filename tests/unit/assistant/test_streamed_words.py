"""Provisional words: only of the one skill that will speak, and in the end those of the reply."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prolocutor import Hypothesis, TurnRequest
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.contracts.selection import Selection, enough
from prolocutor.dialog.turn_events import Delta, Replaced, ReplyGiven, TurnEvent
from prolocutor.errors import Stopping, StoreFull
from prolocutor.plan.pipeline import Breaker, Pipeline, Service
from tests.unit.assistant.talks import FaultyStore, assistant
from tests.unit.assistant.test_streaming import assembled, events_of
from tests.unit.pipeline.talk import hypothesis, says, skill


def words_of(events: list[TurnEvent]) -> list[str | None]:
    """Return the deltas, and None where they are void."""
    return [
        event.text if isinstance(event, Delta) else None
        for event in events
        if isinstance(event, Delta | Replaced)
    ]


async def events_until_error(stream: TurnStream) -> tuple[list[TurnEvent], StoreFull | None]:
    """Return the events of a turn, and what it raised where it could not be stored."""
    seen: list[TurnEvent] = []
    try:
        async for event in stream:
            seen.append(event)  # noqa: PERF401 - what came before an error is wanted too
    except StoreFull as error:
        return seen, error
    return seen, None


async def poet(request: Any) -> AsyncIterator[Any]:
    for piece in ("Roses ", "are ", "red."):
        yield piece
        await asyncio.sleep(0)


def slow_poet(turn: TurnRequest) -> Iterator[str | Hypothesis]:
    yield Hypothesis("", 0.9)
    yield from ("Roses ", "are ", "red.")


async def speaker(turn: TurnRequest) -> Hypothesis:
    turn.say("Roses ")
    turn.say("are red.")
    return Hypothesis("Roses are red.", 0.9)


def plain_speaker(turn: TurnRequest) -> Hypothesis:
    turn.say("Roses ")
    turn.say("are red.")
    return Hypothesis("Roses are red.", 0.9)


@pytest.mark.parametrize("target", [poet, slow_poet, speaker, plain_speaker])
async def test_the_words_of_the_only_skill_come_before_the_reply(target: Any) -> None:
    async with assistant(Service("poet", target, timeout=60.0)) as it:
        events = await events_of(it.stream("hi", user="ann"))
        quiet = await it.reply("hi", user="bob")

    assert "".join(str(one) for one in words_of(events)) == "Roses are red." == quiet.text
    assert isinstance(events[-1], ReplyGiven)
    assert assembled(events[:-1]) == assembled(events)


async def test_words_of_one_of_several_are_held_back_until_the_others_came_to_nothing() -> None:
    gate = asyncio.Event()

    async def late(request: Any) -> Any:
        await gate.wait()
        return []

    services = [Service("poet", poet), Service("late", late, timeout=60.0)]

    async def poet_waits(request: Any) -> AsyncIterator[Any]:
        yield "Roses "
        gate.set()
        for _ in range(10):
            await asyncio.sleep(0)
        yield "are red."

    services[0] = Service("poet", poet_waits, timeout=60.0)
    async with assistant(*services) as it:
        events = await events_of(it.stream("hi", user="ann"))
    kinds = [one.text if isinstance(one, Delta) else type(one).__name__ for one in events]
    assert kinds.index("Roses ") > kinds.index("ServiceSettled")
    assert assembled(events) == "Roses are red."


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"commit": "never"}, []),
        ({"response_selector": says("r", ValueError(), commit="never")}, []),
        ({"postprocessors": [says("loud", "ROSES")]}, []),
        ({"skills": [Service("poet", poet, response_formatter=lambda reply: reply)]}, []),
        ({"skills": [Service("poet", poet), skill("rival", "no", 0.1)]}, []),
        ({"skills": [Service("poet", poet)], "response_selector": says("r", ValueError())}, None),
    ],
)
async def test_words_are_held_back(more: dict[str, Any], words: list[str] | None) -> None:
    pipeline = Pipeline(**{"skills": [Service("poet", poet)], **more})
    async with Assistant(pipeline, store="memory:") as it:
        events = await events_of(it.stream("hi", user="ann"))
    assert words is None or words_of(events) == words


@pytest.mark.parametrize(("commit", "shown"), [("last", True), ("only", False)])
async def test_a_router_that_may_ask_for_more_holds_no_words_back_but_with_only(
    commit: Any, shown: bool
) -> None:
    def route(request: Any) -> Selection:
        return Selection(["empty", "poet"], lambda *_: None)

    skills = [says("empty", []), Service("poet", poet), skill("unasked", "no", 0.1)]
    selector = Service("router", route)
    pipeline = Pipeline(skill_selector=selector, skills=skills, commit=commit)
    async with Assistant(pipeline, store="memory:") as it:
        events = await events_of(it.stream("hi", user="ann"))

    assert bool(words_of(events)) == shown


async def test_the_first_good_one_is_shown_and_taken_back_where_another_wins() -> None:
    async def sure(request: Any) -> AsyncIterator[Any]:
        yield {"text": "", "confidence": 0.85}
        yield "I think "
        await asyncio.sleep(0)
        yield "so."

    async def surer(request: Any) -> Any:
        for _ in range(5):
            await asyncio.sleep(0)
        return hypothesis("No.", 0.95)

    skills = [Service("sure", sure), Service("surer", surer)]
    async with Assistant(Pipeline(skills=skills, commit="first_good"), store="memory:") as it:
        events = await events_of(it.stream("hi", user="ann"))
    words = words_of(events)
    assert words[-1] is None
    assert "".join(str(one) for one in words[:-1]) == "I think so."
    assert assembled(events) == "No."


async def test_words_of_an_attempt_that_failed_are_taken_back() -> None:
    tries: list[int] = []

    async def flaky(request: Any) -> AsyncIterator[Any]:
        tries.append(1)
        yield "Ros"
        if len(tries) == 1:
            raise ValueError("no")
        yield "es."

    async with assistant(Service("flaky", flaky, retries=1, timeout=60.0)) as it:
        events = await events_of(it.stream("hi", user="ann"))
    assert words_of(events) == ["Ros", None, "Roses."]


async def test_words_of_a_turn_that_cannot_be_stored_are_taken_back() -> None:
    store = FaultyStore()
    async with assistant(Service("poet", poet), store=store) as it:
        store.finishes_to_fail = 1
        seen, error = await events_until_error(it.stream("hi", user="ann"))
    assert isinstance(error, StoreFull)
    assert words_of(seen)[-1] is None


async def test_half_a_character_and_words_after_the_end_do_no_harm() -> None:
    kept: list[TurnRequest] = []

    async def odd(turn: TurnRequest) -> Hypothesis:
        kept.append(turn)
        turn.say("a")
        turn.say("\ud83d")
        with pytest.raises(TypeError):
            turn.say(5)  # type: ignore[arg-type]
        return Hypothesis("abc", 0.5)

    async with assistant(Service("odd", odd)) as it:
        events = await events_of(it.stream("hi", user="ann"))
        kept[0].say("too late")
    assert words_of(events) == ["a", "bc"]


# -- whatever happens -----------------------------------------------------------------------

PIECES = st.lists(st.sampled_from(["a", "b ", " ", "", "c"]), max_size=4)
NAMES = ["x", "y", "z"]


@st.composite
def speakers(draw: st.DrawFn, name: str) -> Service:
    """A skill that streams: it may fail in the middle, or say something else in the end."""
    pieces, pauses = draw(PIECES), draw(st.integers(0, 3))
    end = draw(st.sampled_from(["same", "same", "longer", "other", "raises", "nothing", "rich"]))
    confidence, ahead = draw(st.sampled_from([0.1, 0.5, 0.9])), draw(st.booleans())
    attempts: list[int] = []

    async def speaks(request: Any) -> AsyncIterator[Any]:
        attempts.append(1)
        if ahead:
            yield {"text": "", "confidence": confidence}
        for piece in pieces:
            yield piece
            for _ in range(pauses):
                await asyncio.sleep(0)
        if end == "raises" and len(attempts) % 2:
            raise ValueError("no")
        if end == "nothing" and not ahead:
            yield []
        elif not ahead:
            text = "".join(pieces)
            whole = {"other": "other", "longer": text + "d", "rich": ""}.get(end, text)
            rich = {"messages": [{"type": "text", "text": "rich"}]} if end == "rich" else {}
            yield {"text": whole, "confidence": confidence, **rich}

    options: dict[str, Any] = {"retries": draw(st.sampled_from([0, 0, 1]))}
    if draw(st.integers(0, 3)) == 0:
        options["after"] = []
    return Service(name, speaks, timeout=60.0, breaker=Breaker(failures=1000), **options)


@st.composite
def selectors(draw: st.DrawFn) -> Service | None:
    first = draw(st.lists(st.sampled_from(NAMES), max_size=3))
    kind = draw(st.sampled_from(["none", "plain", "waves", "enough"]))
    if kind == "none":
        return None
    if kind == "plain":
        return says("selector", first)
    then = [enough if kind == "enough" else draw(st.lists(st.sampled_from(NAMES), max_size=2))]
    return Service("selector", lambda request: Selection(first, lambda *_: (then or [None]).pop()))


@st.composite
def plans(draw: st.DrawFn) -> Pipeline:
    chosen = draw(
        st.sampled_from(
            [
                None,
                {"skill_name": "x", "text": "a", "confidence": 1},
                {"skill_name": "", "text": "own words", "confidence": 1},
                {"skill_name": "y", "text": "a composed one", "confidence": 1},
                {"abstain": True},
                ValueError("no"),
            ]
        )
    )
    return Pipeline(
        skill_selector=draw(selectors()),
        skills=[draw(speakers(name)) for name in NAMES[: draw(st.integers(1, 3))]],
        response_selector=None if chosen is None else says("chooser", chosen),
        postprocessors=[says("loud", "LOUD")] if draw(st.integers(0, 4)) == 0 else [],
        last_chance=says("last", "last") if draw(st.booleans()) else None,
        commit=draw(st.sampled_from(["first_good", "last", "only", "never"])),
    )


@settings(suppress_health_check=list(HealthCheck))
@given(
    pipeline=plans(),
    slow=st.booleans(),
    text=st.sampled_from(["hi", "yes", "stop"]),
    fails=st.booleans(),
)
async def test_assembled_words_are_the_stored_text_or_void(
    pipeline: Pipeline, slow: bool, text: str, fails: bool
) -> None:
    store = FaultyStore()
    async with Assistant(pipeline, store=store, deadline=60.0) as it:
        store.finishes_to_fail = int(fails)
        stream = it.stream(text, user="ann", request_id="1")
        if slow:
            await asyncio.wait([asyncio.ensure_future(it.archive.close("ann"))])
        seen, error = await events_until_error(stream)
        again = await events_of(it.stream(text, user="ann", request_id="1"))

    last = again[-1]
    assert (error is not None) == fails
    assert isinstance(last, ReplyGiven)
    assert assembled([one for one in seen if not isinstance(one, ReplyGiven)]) in (
        ("",) if fails else ("", last.utterance.text)
    )
    speaking: set[str] = set()
    for event in seen:
        speaking = {*speaking, event.skill} if isinstance(event, Delta) else speaking
        speaking = set() if isinstance(event, Replaced) else speaking
        assert len(speaking) <= 1
    if pipeline.commit == "never" or pipeline.postprocessors:
        assert words_of(seen) == []


async def test_words_are_void_where_the_assistant_stops_before_the_reply() -> None:
    async def endless(request: Any) -> AsyncIterator[str]:
        yield "Roses "
        await asyncio.Event().wait()

    seen: list[TurnEvent] = []
    async with assistant(Service("endless", endless, timeout=60.0)) as it:
        stream = it.stream("hi", user="ann")
        async for event in stream:
            seen.append(event)
            if isinstance(event, Delta):
                break
        await it.aclose(grace=0.0)
        void = await anext(stream)
        while not isinstance(void, Replaced):
            void = await anext(stream)
        with pytest.raises(Stopping):
            await anext(stream)
