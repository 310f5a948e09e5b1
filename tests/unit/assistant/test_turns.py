"""An assistant answers, one turn at a time for each person, whatever its callers do."""

import asyncio
import logging
from operator import attrgetter
from typing import Any

import pytest

import prolocutor
from prolocutor.assistant.assistant import MOVED, Assistant
from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.contracts.observer import TurnRecord
from prolocutor.dialog.agent_state import dialog_to_state
from prolocutor.errors import BadInput, Conflict, Overloaded, Stopping, StoreError, StoreFull
from prolocutor.pipeline.turn import Turn
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService
from tests.model_store import ModelStore
from tests.unit.assistant.talks import FaultyStore, assistant, echo, last_text
from tests.unit.pipeline.talk import Gate, hypothesis, says, settle_down, skill


class Doors:
    """A skill that answers each text when its door is opened; it keeps the order of asking."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._doors: dict[str, asyncio.Event] = {}

    def open(self, *names: str) -> None:
        for name in names:
            self._doors.setdefault(name, asyncio.Event()).set()

    async def __call__(self, request: Any) -> Any:
        text = last_text(request)
        self.asked.append(text)
        await self._doors.setdefault(text, asyncio.Event()).wait()
        return hypothesis(f"re: {text}")


def doors() -> tuple[Doors, Service]:
    made = Doors()
    return made, Service("doors", made, timeout=60.0)


class Keeps:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.records: list[TurnRecord] = []
        self.changes: list[tuple[str, str]] = []

    def turn_ended(self, record: TurnRecord) -> None:
        self.records.append(record)

    def breaker_changed(self, service: str, state: str) -> None:
        self.changes.append((service, state))


class Raises:
    """An observer that breaks its promise."""

    def turn_ended(self, record: TurnRecord) -> None:
        raise ValueError("no")

    def breaker_changed(self, service: str, state: str) -> None:
        raise ValueError("no")


async def test_a_reply_is_a_bot_utterance() -> None:
    async with assistant() as it:
        reply = await it.reply("hi", user="ann")
    assert isinstance(reply, prolocutor.BotUtterance)
    assert reply.text == "re: hi"
    assert reply.active_skill == "echo"
    assert reply.confidence == 0.5


async def test_the_input_is_stored_before_any_service_is_asked() -> None:
    store = ModelStore()
    seen: list[list[str]] = []

    async def looks(request: Any) -> Any:
        seen.append([row.message.decode() for row in await store.feed("ann", 0)])
        return hypothesis()

    async with assistant(Service("looks", looks), store=store) as it:
        await it.reply("hi", user="ann")
    assert seen == [['{"type":"command","command":"hi"}']]


async def test_a_reply_is_in_the_store_before_it_is_given() -> None:
    store = FaultyStore()
    async with assistant(store=store) as it:
        store.finishes_to_fail = 1
        with pytest.raises(StoreFull):
            await it.reply("hi", user="ann")


async def test_a_turn_makes_two_trips_to_the_store() -> None:
    trips: list[str] = []

    class Counts(ModelStore):
        def __getattribute__(self, name: str) -> Any:
            if not name.startswith("_") and name not in ("open", "aclose", "unfinished_turns"):
                trips.append(name)
            return super().__getattribute__(name)

    async with assistant(store=Counts()) as it:
        trips.clear()
        for text in "abc":
            await it.reply(text, user="ann")
    assert trips == ["open_turn", "close_turn"] * 3


async def test_a_dialog_goes_on_and_another_name_is_another_dialog() -> None:
    async with assistant() as it:
        one = await it.turn("a", user="ann")
        two = await it.turn("b", user="ann")
        other = await it.turn("c", user="ann", dialog="other")
        somebody_else = await it.turn("d", user="bob")
    assert one.dialog_id == two.dialog_id
    assert len({one.dialog_id, other.dialog_id, somebody_else.dialog_id}) == 3


async def test_attributes_of_the_input_stand_in_the_human_utterance() -> None:
    async with assistant() as it:
        result = await it.turn("hi", user="ann", attributes={"device": "phone"})
        dialog = await it.store.dialog(result.dialog_id)
    assert dialog is not None
    state = dialog_to_state(dialog)
    assert state["human_utterances"][0]["attributes"] == {"device": "phone"}


# -- order ------------------------------------------------------------------------------------


async def test_one_turn_at_a_time_per_person_first_come_first_served() -> None:
    open_up, service = doors()
    async with assistant(service) as it:
        turns = [asyncio.create_task(it.reply(text, user="ann")) for text in "abc"]
        for asked in (["a"], ["a", "b"], ["a", "b", "c"]):
            await settle_down()
            assert open_up.asked == asked
            open_up.open(asked[-1])
        assert [(await turn).text for turn in turns] == ["re: a", "re: b", "re: c"]


async def test_one_persons_turn_holds_up_nobody_else() -> None:
    open_up, service = doors()
    async with assistant(service) as it:
        slow = asyncio.create_task(it.reply("slow", user="ann"))
        open_up.open("quick")
        assert (await it.reply("quick", user="bob")).text == "re: quick"
        open_up.open("slow")
        await slow


async def test_a_hundred_inputs_at_once_make_one_dialog_in_order() -> None:
    async with assistant() as it:
        results = await asyncio.gather(*(it.turn(str(n), user="ann") for n in range(100)))
        dialog = await it.store.dialog(results[0].dialog_id)
    assert dialog is not None
    said = [utterance.text for utterance in dialog.utterances]
    assert said == [text for n in range(100) for text in (str(n), f"re: {n}")]


async def test_closing_a_dialog_waits_for_its_turn() -> None:
    open_up, service = doors()
    async with assistant(service) as it:
        turn = asyncio.create_task(it.turn("a", user="ann"))
        closing = asyncio.create_task(it.archive.close("ann"))
        await settle_down()
        assert not closing.done()
        open_up.open("a", "b")
        closed = await closing
        assert closed == (await turn).dialog_id
        assert (await it.turn("b", user="ann")).dialog_id != closed
        assert await it.archive.close("nobody") is None


async def test_a_person_who_is_deleted_starts_anew() -> None:
    async with assistant(says("chat", hypothesis(human_attributes={"x": 1}))) as it:
        before = await it.turn("a", user="ann")
        assert await it.archive.delete_person("ann")
        assert await it.store.dialog(before.dialog_id) is None
        after = await it.turn("b", user="ann")
        assert after.dialog_id != before.dialog_id
        assert not await it.archive.delete_person("nobody")


# -- who waits, and for how long --------------------------------------------------------------


async def test_cancelling_only_stops_waiting() -> None:
    open_up, service = doors()
    async with assistant(service) as it:
        waiting = asyncio.create_task(it.reply("a", user="ann"))
        await settle_down()
        waiting.cancel()
        await settle_down()
        assert waiting.cancelled()
        open_up.open("a", "b")
        result = await it.turn("b", user="ann")
        dialog = await it.store.dialog(result.dialog_id)
    assert dialog is not None
    assert [one.text for one in dialog.utterances] == ["a", "re: a", "b", "re: b"]


async def test_an_input_whose_caller_went_away_before_its_turn_is_answered_all_the_same() -> None:
    open_up, service = doors()
    async with assistant(service) as it:
        first = asyncio.create_task(it.reply("a", user="ann"))
        gone = asyncio.create_task(it.reply("b", user="ann"))
        await settle_down()
        gone.cancel()
        open_up.open("a", "b")
        await first
    assert open_up.asked == ["a", "b"]


async def test_a_full_queue_is_told() -> None:
    open_up, service = doors()
    async with assistant(service, queue_limit=2) as it:
        taken = [asyncio.create_task(it.reply(text, user="ann")) for text in "ab"]
        await settle_down()
        with pytest.raises(Overloaded):
            await it.reply("c", user="ann")
        open_up.open("a", "b", "other")
        assert (await it.reply("other", user="bob")).text == "re: other"
        await asyncio.gather(*taken)
    assert "c" not in open_up.asked


async def test_waiting_too_long_is_told_and_the_input_not_taken() -> None:
    open_up, service = doors()
    async with assistant(service, queue_timeout=0.02) as it:
        first = asyncio.create_task(it.reply("a", user="ann"))
        await settle_down()
        with pytest.raises(Overloaded, match=r"0\.02 seconds"):
            await it.reply("b", user="ann")
        open_up.open("a", "c")
        await first
        assert (await it.reply("c", user="ann")).text == "re: c"
    assert open_up.asked == ["a", "c"]


async def test_a_turn_that_began_in_time_may_last_longer_than_the_wait() -> None:
    open_up, service = doors()
    async with assistant(service, queue_timeout=1) as it:
        first, second = (asyncio.create_task(it.reply(text, user="ann")) for text in "ab")
        await settle_down()
        open_up.open("a")
        await first
        await asyncio.wait([second], timeout=1.1)
        open_up.open("b")
        assert (await second).text == "re: b"


async def test_no_memory_is_kept_of_people_who_are_idle() -> None:
    async with assistant() as it:
        await asyncio.gather(*(it.reply("hi", user=str(n)) for n in range(20)))
        await settle_down()
        assert it.turns.busy == 0


# -- asking again -----------------------------------------------------------------------------


async def test_the_same_request_gets_the_same_reply_once() -> None:
    chat = skill(human_attributes={"x": 1})
    async with assistant(chat) as it:
        one = await it.turn("hi", user="ann", request_id="r")
        two = await it.turn("hi", user="ann", request_id="r")
    fake: Any = chat.target
    assert one.repeated is False
    assert two.repeated is True
    assert fake.calls == 1
    assert one.reply == two.reply
    assert one.turn_id == two.turn_id
    assert one.dialog_id == two.dialog_id
    assert one.human_utt_id == two.human_utt_id


async def test_the_same_request_joins_the_turn_in_flight() -> None:
    open_up, service = doors()
    async with assistant(service) as it:
        both = [asyncio.create_task(it.turn("a", user="ann", request_id="r")) for _ in range(2)]
        await settle_down()
        open_up.open("a")
        one, two = await asyncio.gather(*both)
    assert one.reply == two.reply
    assert open_up.asked == ["a"]


@pytest.mark.parametrize("other", [{"text": "bye"}, {"attributes": {"x": 1}}, {"dialog": "other"}])
async def test_something_else_under_the_same_request_id_is_a_conflict(
    other: dict[str, Any],
) -> None:
    said = {"text": "hi", "user": "ann", "request_id": "r"}
    async with assistant() as it:
        await it.turn(**said)
        with pytest.raises(Conflict):
            await it.turn(**{**said, **other})


async def test_request_ids_of_two_people_are_two() -> None:
    async with assistant() as it:
        one = await it.turn("hi", user="ann", request_id="r")
        two = await it.turn("bye", user="bob", request_id="r")
    assert one.reply.text == "re: hi"
    assert two.reply.text == "re: bye"


# -- input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"user": ""}, "user_id"),
        ({"user": "x" * 501}, "user_id"),
        ({"user": "\ud800"}, "user_id"),
        ({"user": 5}, "user_id"),
        ({"user": None}, "user_id"),
        ({"text": "x" * (DEFAULTS.max_text + 1)}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"text": None}, "text"),
        ({"text": ["hi"]}, "text"),
        ({"attributes": {"x": float("nan")}}, "attributes"),
        ({"attributes": {"x": object()}}, "attributes"),
        ({"attributes": {"x": "y" * 1_000_000}}, "attributes"),
        ({"text": 5}, "text"),
        ({"attributes": ["x"]}, "attributes"),
        ({"attributes": {1: 2}}, "attributes"),
        ({"dialog": "x" * 501}, "dialog"),
        ({"dialog": "\ud800"}, "dialog"),
        ({"request_id": ""}, "request_id"),
        ({"request_id": "x" * 501}, "request_id"),
        ({"request_id": "\ud800"}, "request_id"),
    ],
)
async def test_an_invalid_input_is_refused_with_its_field(
    changed: dict[str, Any], field: str
) -> None:
    async with assistant() as it:
        with pytest.raises(BadInput) as refused:
            await it.turn(**{"text": "hi", "user": "ann", **changed})
        assert refused.value.field == field
        assert await it.store.feed("ann", 0) == []


@pytest.mark.parametrize(
    "text", ["", "x" * DEFAULTS.max_text, "\x00", "🦜" * 100, "\u202e", "/start"]
)
async def test_any_text_of_that_length_is_taken(text: str) -> None:
    async with assistant() as it:
        assert (await it.reply(text, user="ann")).text == f"re: {text}"


# -- observers --------------------------------------------------------------------------------


async def test_an_observer_gets_the_record_of_each_turn() -> None:
    keeps = Keeps()
    pipeline = Pipeline(
        annotators=[says("ner", ["Paris"]), says("broken", ValueError("no"))],
        skill_selector=says("selector", ["a", "nobody"]),
        skills=[skill("a", "hello", human_attributes={"id": 1}), skill("b")],
        postprocessors=[says("post", "Hello!")],
    )
    async with assistant(pipeline=pipeline, observers=[keeps]) as it:
        result = await it.turn("hi", user="ann", channel="test")
    [record] = keeps.records
    assert record is result.record
    assert record.turn_id == result.turn_id
    assert record.dialog_id == result.dialog_id
    assert record.user == "ann"
    assert record.channel == "test"
    assert record.attempt == 1
    assert record.text == "hi"
    assert record.response == "Hello!"
    assert record.active_skill == "a"
    assert record.by == "confidence"
    assert record.chosen == ["a.0"]
    assert record.asked == ["a"]
    assert 0 < record.seconds < 60
    assert [(one.name, one.stage, one.outcome, one.calls) for one in record.services] == [
        ("ner", "annotators", "done", 1),
        ("broken", "annotators", "failed", 1),
        ("selector", "skill_selector", "done", 1),
        ("a", "skills", "done", 1),
        ("b", "skills", "skipped", 0),
        ("post", "postprocessors", "done", 1),
    ]
    assert [one.error for one in record.services if one.error] == ["ValueError: no"]
    assert [fault["service"] for fault in record.faults] == ["selector", "reply"]
    assert [one["text"] for one in record.hypotheses] == ["hello"]


@pytest.mark.parametrize(
    ("options", "by"),
    [
        (
            {"response_selector": says("s", {"skill_name": "a", "text": "hi", "confidence": 1})},
            "selector",
        ),
        ({}, "confidence"),
        ({"response_selector": says("s", None), "last_chance": says("l", "Sorry.")}, "last_chance"),
        ({"skill_selector": says("s", [])}, "fallback"),
    ],
)
async def test_the_record_says_how_the_reply_came_about(options: Any, by: str) -> None:
    keeps = Keeps()
    pipeline = Pipeline(skills=[skill("a")], **options)
    async with assistant(pipeline=pipeline, observers=[keeps]) as it:
        await it.reply("hi", user="ann")
    assert keeps.records[0].by == by


async def test_an_observer_is_told_of_breakers() -> None:
    keeps = Keeps()
    broken = says("broken", ValueError("no"), breaker=prolocutor.Breaker(failures=1))
    async with assistant(broken, observers=[keeps]) as it:
        await it.reply("hi", user="ann")
    assert keeps.changes == [("broken", "open")]


async def test_an_observer_that_raises_breaks_no_turn(caplog: pytest.LogCaptureFixture) -> None:
    keeps = Keeps()
    broken = says("broken", ValueError("no"), breaker=prolocutor.Breaker(failures=1))
    async with assistant(broken, echo(), observers=[Raises(), keeps]) as it:
        assert (await it.reply("hi", user="ann")).text == "re: hi"
    assert len(keeps.records) == 1
    assert len(keeps.changes) == 1
    assert "an observer raised" in caplog.text


async def test_without_an_observer_the_record_of_a_turn_is_made_when_it_is_read() -> None:
    async with assistant() as it:
        result = await it.turn("hi", user="ann")
        record = result.record
    assert record is not None
    assert record.turn_id == result.turn_id


# -- what the store cannot do -----------------------------------------------------------------


async def test_an_input_that_cannot_be_stored_is_not_answered() -> None:
    store = FaultyStore()
    async with assistant(store=store) as it:
        store.begins_to_fail = 1
        with pytest.raises(StoreFull):
            await it.reply("a", user="ann")
        assert (await it.reply("b", user="ann")).text == "re: b"


async def test_a_reply_that_could_not_be_stored_is_owed_and_stored_before_the_next_turn() -> None:
    store = FaultyStore()
    async with assistant(store=store) as it:
        store.finishes_to_fail = 1
        with pytest.raises(StoreFull):
            await it.reply("a", user="ann")
        result = await it.turn("b", user="ann")
        dialog = await store.dialog(result.dialog_id)
    assert dialog is not None
    assert [one.text for one in dialog.utterances] == ["a", "re: a", "b", "re: b"]


async def test_who_asks_again_for_a_reply_that_was_owed_gets_it() -> None:
    store = FaultyStore()
    open_up, service = doors()
    open_up.open("a")
    async with assistant(service, store=store) as it:
        store.finishes_to_fail = 1
        with pytest.raises(StoreFull):
            await it.turn("a", user="ann", request_id="r")
        again = await it.turn("a", user="ann", request_id="r")
    assert again.reply.text == "re: a"
    assert open_up.asked == ["a"]


async def test_unstored_turns_are_stored_at_the_end() -> None:
    store = FaultyStore()
    async with assistant(store=store) as it:
        store.finishes_to_fail = 1
        with pytest.raises(StoreFull):
            await it.reply("a", user="ann")
        assert len(await store.unfinished_turns()) == 1
    assert await store.unfinished_turns() == []


async def test_nothing_is_owed_to_a_person_who_was_deleted() -> None:
    store = FaultyStore()
    async with assistant(store=store) as it:
        store.finishes_to_fail = 1
        with pytest.raises(StoreFull):
            await it.reply("a", user="ann")
        await it.archive.delete_person("ann")
        assert (await it.reply("b", user="ann")).text == "re: b"


async def test_a_store_that_cannot_list_interrupted_turns_is_closed() -> None:
    class Broken(FaultyStore):
        async def unfinished_turns(self) -> Any:
            raise StoreError("no")

    store = Broken()
    with pytest.raises(StoreError):
        await Assistant(Pipeline(skills=[echo()]), store=store).start()
    assert store.closed == 1


async def test_a_fault_of_our_own_breaks_no_turn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def breaks(self: Turn) -> None:
        raise AssertionError("the text of an exception")

    monkeypatch.setattr(Turn, "run", breaks)
    async with assistant(fallback="Sorry.") as it:
        with caplog.at_level(logging.ERROR):
            reply = await it.reply("hi", user="ann")
        assert await it.store.unfinished_turns() == []
    assert reply.text == "Sorry."
    assert reply.attributes == {"interrupted": True}
    assert "broke" in caplog.text


# -- the end ----------------------------------------------------------------------------------


async def test_closing_lets_the_turns_that_were_taken_end_and_takes_no_new_ones() -> None:
    open_up, service = doors()
    store = FaultyStore()
    async with assistant(service, store=store) as it:
        taken = [asyncio.create_task(it.reply(text, user="ann")) for text in "ab"]
        await settle_down()
        closing = asyncio.create_task(it.aclose())
        await settle_down()
        with pytest.raises(Stopping):
            await it.reply("c", user="bob")
        assert closing.done() is False
        assert it.ready is False
        open_up.open("a", "b")
        await closing
        assert [(await one).text for one in taken] == ["re: a", "re: b"]


async def test_closing_waits_no_longer_than_its_grace() -> None:
    _, service = doors()
    store = ModelStore()
    it = Assistant(Pipeline(skills=[service]), store=store, deadline=60)
    await it.start()
    taken = [asyncio.create_task(it.reply(text, user="ann")) for text in "ab"]
    await settle_down()
    await it.aclose(grace=0.02)
    outcomes = await asyncio.gather(*taken, return_exceptions=True)
    assert [type(one) for one in outcomes] == [asyncio.CancelledError, Stopping]
    assert [turn.user for turn in await store.unfinished_turns()] == ["ann"]


async def test_an_assistant_is_ready_between_start_and_end() -> None:
    async with assistant() as it:
        assert it.ready
    assert not it.ready


async def test_services_are_let_go_at_the_end() -> None:
    class Connector:
        closed = 0

        async def send(self, requests: Any) -> Any:
            raise NotImplementedError

        async def aclose(self) -> None:
            self.closed += 1

    connector = Connector()
    async with assistant(Service("odd", connector)):
        pass
    assert connector.closed == 1


async def test_a_service_that_cannot_be_let_go_keeps_the_store_from_nothing() -> None:
    class Connector:
        async def send(self, requests: Any) -> Any:
            raise NotImplementedError

        async def aclose(self) -> None:
            raise ValueError("no")

    store = FaultyStore()
    async with assistant(Service("odd", Connector()), store=store):
        pass
    assert store.closed == 1


async def test_the_engine_is_a_guarded_caller() -> None:
    async with assistant(Service("five", FakeService(5))) as it:
        assert await it.engine.call("five", {}, timeout=1) == 5


async def test_a_gate_left_shut_is_cancelled_at_its_time_out() -> None:
    gate = Gate()
    async with assistant(Service("gate", gate, timeout=0.01), echo()) as it:
        assert (await it.reply("hi", user="ann")).text == "re: hi"
        await settle_down()
    assert gate.cancelled == 1


async def test_the_old_names_of_what_parts_do_work_with_a_warning() -> None:
    async with assistant(echo()) as it:
        await it.reply("hi", user="ann")
        for name, place in MOVED.items():
            with pytest.deprecated_call(match=f"{name} is Assistant.{place} now"):
                assert getattr(it, name) == attrgetter(place)(it)
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            it.nothing  # type: ignore[attr-defined] # noqa: B018


def test_the_assistant_itself_does_little() -> None:
    made = vars(Assistant).items()
    methods = {name for name, one in made if callable(one) or isinstance(one, classmethod)}

    assert len(methods - {"__getattr__"}) <= 15  # which goes with the old names
