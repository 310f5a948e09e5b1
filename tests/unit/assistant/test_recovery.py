"""Turns that were cut off are run once more, with the same ids; then they are closed."""

import asyncio
import logging
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.journal import _digest
from prolocutor.contracts.observer import TurnRecord
from prolocutor.dialog import plain
from prolocutor.errors import NotFound, StoreFull
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService
from prolocutor.testing.sample_turns import an_opening, open_new_turn
from tests.model_store import ModelStore
from tests.unit.assistant.talks import FaultyStore, assistant, echo
from tests.unit.pipeline.talk import Gate, hypothesis, says, settle_down


class Keeps:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.records: list[TurnRecord] = []

    def turn_ended(self, record: TurnRecord) -> None:
        self.records.append(record)

    def breaker_changed(self, service: str, state: str) -> None: ...


async def cut_off(store: ModelStore, text: str = "hi", **opening: Any) -> str:
    """Begin a turn that nobody ends; give its id."""
    return (await open_new_turn(store, text=text, window=4, **opening)).opening.turn_id


async def said(store: ModelStore, user: str = "ann") -> list[str]:
    """Return the texts of a person's feed, without what the person said."""
    rows = [row.message for row in await store.feed(user, 0)]
    messages = [plain.decode(row) for row in rows]
    return [message["text"] for message in messages if message["type"] == "text"]


async def done(it: Assistant) -> None:
    """Wait until nobody has a turn."""
    while it.turns.busy:  # noqa: ASYNC110 - nothing tells when the last one has gone
        await asyncio.sleep(0)


async def test_a_turn_that_was_cut_off_is_run_again_with_the_same_ids() -> None:
    store, keeps = ModelStore(), Keeps()
    turn_id = await cut_off(store)
    async with assistant(store=store, observers=[keeps]) as it:
        await done(it)
    [record] = keeps.records
    assert record.turn_id == turn_id
    assert record.attempt == 2
    assert record.response == "re: hi"
    assert await said(store) == ["re: hi"]
    assert await store.unfinished_turns() == []


async def test_an_assistant_that_is_cut_off_leaves_a_turn_that_the_next_one_takes_up() -> None:
    store = ModelStore()
    first = Assistant(Pipeline(skills=[Service("gate", Gate(), timeout=60.0)]), store=store)
    await first.start()
    asking = asyncio.create_task(first.reply("hi", user="ann"))
    await settle_down()
    await first.aclose(grace=0.01)
    await asyncio.wait([asking])
    async with assistant(store=store) as second:
        await done(second)
    assert await said(store) == ["re: hi"]


async def test_a_second_run_uses_the_same_keys() -> None:
    keys: list[str] = []

    class Connector:
        async def send(self, requests: Any) -> Any:
            keys.extend(request.key for request in requests)
            raise asyncio.CancelledError

        async def aclose(self) -> None: ...

    store = ModelStore()
    turn_id = await cut_off(store)
    async with assistant(Service("odd", Connector()), store=store) as it:
        await done(it)
    assert keys == [f"{turn_id}/odd"]


async def test_services_that_want_no_second_run_are_not_asked_again() -> None:
    once = says("once", hypothesis("once", 1.0), rerun=False)
    store = ModelStore()
    await cut_off(store)
    async with assistant(once, echo(), store=store) as it:
        await done(it)
    fake: Any = once.target
    assert await said(store) == ["re: hi"]
    assert fake.calls == 0


async def test_a_turn_that_was_cut_off_twice_is_closed_with_the_fallback_and_marked() -> None:
    store = ModelStore()
    turn_id = await cut_off(store)
    await store.resume_turn(turn_id, None, 0)
    chat = echo()
    async with assistant(chat, store=store, fallback="Sorry.") as it:
        await done(it)
        dialog_id = await store.active_dialog_id("ann")
        dialog = await store.dialog(dialog_id or "")
    assert dialog is not None
    reply = dialog.utterances[-1]
    assert reply.text == "Sorry."
    assert reply.attributes == {"interrupted": True}
    fake: Any = chat.target
    assert fake.calls == 0
    assert await store.unfinished_turns() == []


async def test_a_turn_that_is_too_old_is_closed_at_once() -> None:
    store = ModelStore()
    await cut_off(store, started=1000.0)
    chat = echo()
    async with assistant(chat, store=store, fallback="Sorry.", recover_within=60) as it:
        await done(it)
    fake: Any = chat.target
    assert await said(store) == ["Sorry."]
    assert fake.calls == 0


async def test_a_new_input_waits_for_the_turn_that_was_cut_off() -> None:
    store = ModelStore()
    await cut_off(store, "first")
    async with assistant(store=store) as it:
        await it.reply("second", user="ann")
    assert await said(store) == ["re: first", "re: second"]


async def test_turns_of_many_people_are_all_taken_up() -> None:
    store = ModelStore()
    for number in range(20):
        await cut_off(store, str(number), user=f"u{number}")
    async with assistant(store=store) as it:
        await done(it)
    assert [await said(store, f"u{n}") for n in range(20)] == [[f"re: {n}"] for n in range(20)]


async def test_who_asks_again_for_a_turn_that_was_cut_off_gets_its_reply() -> None:
    store, chat = ModelStore(), echo()
    gate = Gate()
    first = Assistant(Pipeline(skills=[Service("gate", gate, timeout=60.0)]), store=store)
    await first.start()
    asking = asyncio.create_task(first.reply("hi", user="ann", request_id="r"))
    await settle_down()
    await first.aclose(grace=0.01)
    await asyncio.wait([asking])
    async with assistant(chat, store=store) as second:
        result = await second.turn("hi", user="ann", request_id="r")
    fake: Any = chat.target
    assert result.reply.text == "re: hi"
    assert result.repeated is True
    assert fake.calls == 1


@pytest.mark.parametrize("error", [StoreFull("full"), NotFound("no such turn")])
async def test_a_failing_recovery_stops_no_other(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(FaultyStore):
        async def resume_turn(self, turn_id: str, window: int | None, hypotheses: int) -> Any:
            if turn_id == broken:
                raise error
            return await super().resume_turn(turn_id, window, hypotheses)

    store = Broken()
    broken = await cut_off(store, "a", user="ann")
    await cut_off(store, "b", user="bob")
    with caplog.at_level(logging.ERROR, "prolocutor"):
        async with assistant(store=store) as it:
            await done(it)
    assert await said(store, "bob") == ["re: b"]
    assert "cannot be taken up" in caplog.text


async def test_who_asks_again_for_a_turn_that_nobody_took_up_has_it_run_as_it_began() -> None:
    a, b = FakeService(hypothesis("a")), FakeService(hypothesis("b"))
    async with assistant(Service("a", a), Service("b", b)) as it:
        pressed = {"payload": 5, "skill": "b"}
        hashed = _digest(b'"hi"', "main", b"{}" + plain.encode({"parsed": pressed}))
        start = plain.encode({"parsed": pressed})
        await cut_off(it.store, request_key="r", request_hash=hashed, start=start)  # type: ignore[arg-type]
        result = await it.turn("hi", user="ann", request_id="r", parsed=pressed)
    assert result.reply.text == "b"
    assert a.calls == 0


async def test_the_second_run_of_a_turn_knows_its_start() -> None:
    asked = FakeService(hypothesis())
    other = FakeService(hypothesis())
    store = ModelStore()
    start = b'{"parsed":{"payload":5,"skill":"asked"}}'
    await store.open_turn(an_opening(text="5", start=start, window=4))
    async with assistant(Service("other", other), Service("asked", asked), store=store) as it:
        await done(it)
    assert other.calls == 0
    assert asked.requests[0]["answer"]["value"] == 5
