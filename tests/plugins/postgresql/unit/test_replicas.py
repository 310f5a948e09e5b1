"""Several assistants on one store: the laws of the turn hold across them."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.assistant_settings import ReplicaSettings
from prolocutor.contracts.store import (
    AnsweredRequest,
    OpenedTurn,
    TurnClosing,
    TurnOpening,
)
from prolocutor.dialog import plain
from prolocutor.errors import (
    ConfigError,
    HandoverConflict,
    Overloaded,
    StoreAway,
    StoreError,
    StoreFull,
)
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.postgresql.replicas import succession
from prolocutor.plugins.postgresql.replicas.succession import Succession
from prolocutor.testing.fake_service import FakeService
from prolocutor.testing.sample_turns import an_entry
from tests.model_store.shared_model_store import SharedModelStore
from tests.model_store.shared_state import SharedModel
from tests.unit.assistant.talks import assistant, echo, last_text
from tests.unit.pipeline.talk import Gate, hypothesis, skill
from tests.waiting import until

LEASE = 0.2
PATIENCE = 10.0


class Fleet:
    """Several assistants on one database; each says its number in front of what it repeats."""

    def __init__(self, database: SharedModel) -> None:
        self.database = database
        self.stores: list[SharedModelStore] = []
        self.assistants: list[Assistant] = []
        self.gates: list[Gate] = []

    def pass_time(self, seconds: float = 60.0) -> None:
        self.database.now += seconds

    async def said(self, user: str = "ann") -> list[str]:
        """Return the words of a feed, whose numbers have no gap and whose ids come once."""
        rows = await self.stores[-1].feed(user, 0, 1000)
        assert [row.n for row in rows] == list(range(1, len(rows) + 1))
        ids = [row.id for row in rows if row.dialog_name == "main" and row.id is not None]
        assert ids == list(range(len(ids)))
        return [_words(plain.decode(row.message)) for row in rows if row.message]


def _words(message: Any) -> str:
    return str(message.get("command") or message.get("text"))


@asynccontextmanager
async def fleet(
    number: int = 2, *, gated: Sequence[int] = (), skills: Any = None, **options: Any
) -> AsyncIterator[Fleet]:
    """Run replicas; those of `gated` numbers answer when their gate is opened."""
    it = Fleet(SharedModel())
    async with AsyncExitStack() as stack:
        for one in range(number):
            gate = Gate()
            if one not in gated:
                gate.opened.set()
            store = SharedModelStore(it.database)
            pipeline = Pipeline(skills=skills or [_echo(one, gate)])
            made = assistant(
                pipeline=pipeline, store=store, replica=ReplicaSettings(lease=LEASE), **options
            )
            it.assistants.append(await stack.enter_async_context(made))
            it.stores.append(store)
            it.gates.append(gate)
        yield it
        for gate in it.gates:
            gate.opened.set()
        for store in it.stores:
            store.is_cut_off = False


def _echo(number: int, gate: Gate) -> Service:
    async def answer(request: Any) -> Any:
        await gate(request)
        return hypothesis(f"{number}: {last_text(request)}")

    return Service("echo", FakeService(answer), timeout=60.0)


def say(it: Fleet, number: int, text: str, **more: Any) -> asyncio.Task[Any]:
    return asyncio.create_task(it.assistants[number].turn(text, user="ann", **more))


async def test_one_turn_at_a_time_at_all_replicas_together() -> None:
    async with fleet(gated=[0]) as it:
        first = say(it, 0, "a")
        await it.gates[0].started.wait()
        second = say(it, 1, "b")
        await until(lambda: it.database.waiting.get("ann"))
        assert it.gates[1].calls == 0
        it.gates[0].opened.set()
        replies = [(await first).reply.text, (await second).reply.text]

        assert replies == ["0: a", "1: b"]
        assert await it.said() == ["a", "0: a", "b", "1: b"]
        assert not it.database.waiting["ann"]


@pytest.mark.parametrize("hints", [True, False])
async def test_words_of_one_person_come_in_the_order_in_which_they_came_in(hints: bool) -> None:
    async with fleet(3, gated=[0]) as it:
        it.database.hints = hints
        words = [f"w{number}" for number in range(30 if hints else 6)]
        tasks = [say(it, 0, words[0])]
        await it.gates[0].started.wait()
        for number, word in enumerate(words[1:], 1):
            tasks.append(say(it, number % 3, word))
            await until(lambda number=number: len(it.database.waiting.get("ann", ())) == number)
        it.gates[0].opened.set()
        await asyncio.gather(*tasks)

        assert [word for word in await it.said() if ":" not in word] == words


async def test_a_dead_replicas_turn_is_run_again_elsewhere_and_its_late_reply_is_not_spoken() -> (
    None
):
    async with fleet(gated=[0]) as it:
        dead, heir = it.assistants
        asked = say(it, 0, "a", request_id="k")
        await it.gates[0].started.wait()
        it.stores[0].is_cut_off = True
        await until(lambda: not dead.ready)
        it.pass_time()
        await until(lambda: it.gates[1].calls)
        await until(lambda: not it.database.taken)
        assert isinstance(heir.sharing, Succession)
        assert heir.sharing.takeovers == 1
        it.stores[0].is_cut_off = False
        it.gates[0].opened.set()
        late = await asked
        await until(lambda: dead.ready)
        again = await say(it, 0, "b")

        assert late.reply.text == "1: a"
        assert again.reply.text == "0: b"
        assert late.repeated
        assert late.n == 1
        assert late.reply.utt_id == (await say(it, 1, "a", request_id="k")).reply.utt_id
        assert dead.sharing is not None
        assert await it.said() == ["a", "1: a", "b", "0: b"]
        assert it.stores[0].replica.number > 2


async def test_a_turn_that_is_cut_off_twice_is_closed_with_an_apology() -> None:
    async with fleet(3, gated=[0, 1, 2], fallback="sorry") as it:
        asked = say(it, 0, "a")
        await it.gates[0].started.wait()
        for number in range(2):
            it.stores[number].is_cut_off = True
            await until(lambda number=number: not it.assistants[number].ready)
            it.pass_time()
            others = it.gates[number + 1 :]
            if number == 0:
                await until(lambda others=others: any(gate.calls for gate in others))
                if it.gates[2].calls:  # the second has to be the one that is cut off next
                    it.stores[1], it.stores[2] = it.stores[2], it.stores[1]
                    it.assistants[1], it.assistants[2] = it.assistants[2], it.assistants[1]
        await until(lambda: not it.database.taken)
        for store in it.stores:
            store.is_cut_off = False
        for gate in it.gates:
            gate.opened.set()

        assert (await asked).reply.text == "sorry"
        assert await it.said() == ["a", "sorry"]


async def test_the_same_request_at_another_replica_joins_the_running_turn() -> None:
    async with fleet(gated=[0]) as it:
        first = say(it, 0, "a", request_id="k")
        await it.gates[0].started.wait()
        second = say(it, 1, "a", request_id="k")
        sharing = it.assistants[1].sharing
        assert isinstance(sharing, Succession)
        await until(lambda: sharing.waiting)
        it.gates[0].opened.set()
        third = await say(it, 1, "a", request_id="k")

        assert (await first).reply.utt_id == (await second).reply.utt_id == third.reply.utt_id
        assert (await second).repeated is True
        assert it.gates[1].calls == 0
        assert await it.said() == ["a", "0: a"]
        assert not it.database.waiting["ann"]


async def test_an_opening_whose_answer_was_lost_is_run_by_itself() -> None:
    async with fleet() as it:
        it.stores[0].loses_answer = True
        with pytest.raises(StoreError):
            await say(it, 0, "a", request_id="k")
        after = await say(it, 1, "b")
        again = await say(it, 0, "a", request_id="k")

        assert after.reply.text == "1: b"
        assert again.reply.text == "0: a"
        assert await it.said() == ["a", "0: a", "b", "1: b"]


async def test_a_turn_that_could_not_be_stored_is_stored_when_the_database_is_back() -> None:
    async with fleet(gated=[0]) as it:
        asked = say(it, 0, "a", request_id="k")
        await it.gates[0].started.wait()
        it.stores[0].is_cut_off = True
        it.gates[0].opened.set()
        with pytest.raises(StoreError):
            await asked
        with pytest.raises(StoreError):
            await say(it, 0, "refused")
        await until(lambda: not it.assistants[0].ready)
        other = say(it, 1, "b")
        await until(lambda: it.database.waiting.get("ann"))
        it.stores[0].is_cut_off = False

        assert (await other).reply.text == "1: b"
        assert (await say(it, 1, "a", request_id="k")).reply.text == "0: a"
        await until(lambda: it.assistants[0].ready)
        assert await it.said() == ["a", "0: a", "b", "1: b"]


async def test_a_timer_that_waits_for_an_owed_turn_does_not_keep_it_from_being_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with fleet(1, gated=[0]) as it:
        (store,) = it.stores
        asked = say(it, 0, "a")
        await it.gates[0].started.wait()
        notice = b'{"messages":[{"type":"text","text":"ring"}],"skill":"echo"}'
        entry = an_entry("ann", "k", it.database.now - 1.0, skill="echo", body=notice)
        await store.schedule(entry)
        await until(lambda: it.database.claims)  # its delivery is in the person's queue
        close, full = store.close_turn, iter([True])

        async def close_turn(closing: TurnClosing) -> None:
            if next(full, False):
                raise StoreFull("the disk is full")
            await close(closing)

        monkeypatch.setattr(store, "close_turn", close_turn)
        it.gates[0].opened.set()
        with pytest.raises(StoreFull):
            await asked
        feed = it.assistants[0].feed("ann")
        words = [_words((await anext(feed)).message) for _ in range(3)]

        assert words == ["a", "0: a", "ring"]


async def test_an_owed_turn_that_was_taken_over_meanwhile_is_dropped() -> None:
    async with fleet(gated=[0]) as it:
        asked = say(it, 0, "a", request_id="k")
        await it.gates[0].started.wait()
        it.stores[0].is_cut_off = True
        it.gates[0].opened.set()
        with pytest.raises(StoreError):
            await asked
        it.pass_time()
        await until(lambda: it.gates[1].calls and not it.database.taken)
        it.stores[0].is_cut_off = False

        assert (await say(it, 0, "a", request_id="k")).reply.text == "1: a"
        assert (await say(it, 0, "b")).reply.text == "0: b"
        assert await it.said() == ["a", "1: a", "b", "0: b"]


async def test_waiting_for_another_replica_has_an_end() -> None:
    async with fleet(gated=[0], queue_timeout=0.3) as it:
        first = say(it, 0, "a")
        await it.gates[0].started.wait()
        with pytest.raises(Overloaded):
            await say(it, 1, "b")
        await until(lambda: not it.database.waiting["ann"])
        it.gates[0].opened.set()
        await first

        assert (await say(it, 0, "c")).reply.text == "0: c"
        assert await it.said() == ["a", "0: a", "c", "0: c"]


async def test_what_is_no_turn_waits_for_a_turn_at_another_replica() -> None:
    async with fleet(gated=[0]) as it:
        first = say(it, 0, "a")
        await it.gates[0].started.wait()
        told = asyncio.create_task(it.assistants[1].notify("ann", "news", key="k"))
        await until(lambda: len(it.database.waiting.get("ann", ())) == 1)
        closed = asyncio.create_task(it.assistants[1].archive.close("ann"))
        await until(lambda: len(it.database.waiting["ann"]) == 2)
        deleted = asyncio.create_task(it.assistants[1].archive.delete_person("ann"))
        await until(lambda: len(it.database.waiting["ann"]) == 3)
        it.gates[0].opened.set()
        result = await first
        assert await told is True
        assert await closed == result.dialog_id
        assert await deleted

        assert not it.database.taken
        rows = [row async for row in _rows(it, (await say(it, 0, "b")).n)]
        assert [_words(row) for row in rows] == ["b", "0: b"]


async def _rows(it: Fleet, n: int) -> AsyncIterator[Any]:
    for row in await it.stores[1].feed("ann", n - 1):
        yield plain.decode(row.message or b"{}")


async def test_the_same_notification_at_two_replicas_is_said_once() -> None:
    async with fleet() as it:
        tell = [one.notify("ann", "news", key="k") for one in it.assistants]
        assert await asyncio.gather(*tell) == [True, True]
        assert await it.said() == ["news"]


async def test_what_is_due_rings_once_at_replicas_whose_clocks_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with fleet(4) as it:
        # No replica's own clock counts: each call of it is an hour further off.
        wrong = iter(range(10_000))
        monkeypatch.setattr(time, "time", lambda: it.database.now + 3600.0 * next(wrong))
        notice = b'{"messages":[{"type":"text","text":"ring"}],"skill":"echo"}'
        users = [f"user-{number}" for number in range(12)]
        for user in users:
            entry = an_entry(user, "k", it.database.now + 30.0, skill="echo", body=notice)
            await it.stores[0].schedule(entry)
        it.pass_time(29.0)
        await asyncio.gather(*(store.beat() for store in it.stores))
        assert [await it.stores[0].feed_end(user) for user in users] == [0] * 12
        it.pass_time(2.0)
        await asyncio.gather(*(store.beat() for store in it.stores))
        await until(lambda: all(it.database.state.persons.get(user) for user in users))
        await until(lambda: not it.database.taken)

        for user in users:
            assert await it.said(user) == ["ring"]


async def test_an_entry_that_waits_for_a_round_rings_when_it_ends_elsewhere() -> None:
    asks = {"text": "name?", "ask": "raw_string", "confidence": 0.5}
    async with fleet(skills=[Service("asker", FakeService([asks], [hypothesis("thanks")]))]) as it:
        await say(it, 0, "a")
        assert not await it.assistants[0].notify("ann", "news")
        assert not await it.assistants[1].notify("ann", "more")
        await say(it, 1, "bob")
        feed = it.assistants[1].feed("ann", after=4)
        words = [_words((await anext(feed)).message) for _ in range(2)]

        assert sorted(words) == ["more", "news"]


@pytest.mark.parametrize("hints", [True, False])
async def test_a_feed_at_another_replica_has_every_message(
    monkeypatch: pytest.MonkeyPatch, hints: bool
) -> None:
    monkeypatch.setattr(succession, "FEED_POLL", 0.05)
    async with fleet() as it:
        it.database.hints = hints
        feed = it.assistants[1].feed("ann")
        heard = []
        for word in "abc":
            talking = say(it, 0, word)
            heard += [(await anext(feed)).n, (await anext(feed)).n]
            await talking

        assert heard == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("error", [StoreAway("away"), ValueError("a fault of ours")])
async def test_feeds_are_looked_up_whatever_fails_beside(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fail() -> None:
        raise error

    monkeypatch.setattr(succession, "FEED_POLL", 0.05)
    async with fleet() as it:
        it.database.hints = False
        monkeypatch.setattr(it.stores[1], "standbys", fail)
        feed = it.assistants[1].feed("ann")
        heard = []
        async with asyncio.timeout(PATIENCE):
            for word in "ab":
                talking = say(it, 0, word)
                heard += [(await anext(feed)).n, (await anext(feed)).n]
                await talking

        assert heard == [1, 2, 3, 4]


async def test_who_listens_for_a_person_learns_that_they_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(succession, "FEED_POLL", 0.05)
    async with fleet() as it, asyncio.timeout(PATIENCE):
        it.database.hints = False
        await say(it, 0, "a")
        with it.assistants[1].feeds.listening("ann") as news:
            await news.wait()
            news.clear()
            await it.assistants[0].archive.delete_person("ann")

            assert await news.wait()


async def test_a_password_is_masked_whichever_replica_gets_it() -> None:
    asks = {"text": "password?", "ask": "password", "confidence": 0.5}
    skill = FakeService([asks], [hypothesis("thanks")], [asks], [hypothesis("thanks")])
    async with fleet(skills=[Service("asker", skill)]) as it:
        await say(it, 1, "login")
        await say(it, 0, "hunter2")
        await say(it, 1, "login")
        await say(it, 0, "hunter2", request_id="k")
        again = await say(it, 1, "hunter2", request_id="k")

        assert [request["answer"]["value"] for request in skill.requests[1::2]] == ["hunter2"] * 2
        assert "hunter2" not in " ".join(await it.said())
        assert again.repeated


async def test_the_database_away_is_said_and_coming_back_too() -> None:
    async with fleet(1) as it:
        one = it.assistants[0]
        assert one.ready
        it.database.away = True
        with pytest.raises(StoreError):
            await say(it, 0, "a")
        await until(lambda: not one.ready)
        it.database.away = False
        await until(lambda: one.ready)

        assert (await say(it, 0, "b")).reply.text == "0: b"


async def test_a_database_that_is_away_at_the_start_is_waited_for() -> None:
    store = AwayAtFirst(SharedModel())
    it = patient(store)
    with pytest.raises(StoreAway):
        await it.start()
    await it.start(patient=True)
    with pytest.raises(StoreAway):
        await it.turn("a", user="ann")
    assert it.started is True
    assert it.ready is False
    assert it.life.is_cut_off is True
    store.is_there = True
    await until(lambda: it.ready)
    assert (await it.reply("a", user="ann")).text == "re: a"
    await it.aclose()


async def test_an_assistant_that_waits_for_its_database_can_be_closed() -> None:
    it = patient(AwayAtFirst(SharedModel()))
    await it.start(patient=True)
    await it.aclose()
    assert not it.ready


class AwayAtFirst(SharedModelStore):
    """A database that does not answer until `is_there`."""

    is_there = False

    async def open(self) -> None:
        if not self.is_there:
            raise StoreAway("nobody answers")
        await super().open()


def patient(store: SharedModelStore) -> Assistant:
    """Make a replica that is not started."""
    pipeline = Pipeline(skills=[echo()])
    return Assistant(pipeline, store=store, replica=ReplicaSettings(lease=LEASE))


async def test_two_operators_at_two_replicas_exclude_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with fleet() as it:
        await say(it, 0, "hi")
        looked, taken = asyncio.Event(), asyncio.Event()
        open_turn = it.stores[1].open_turn

        async def open_late(opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
            looked.set()
            await taken.wait()
            return await open_turn(opening)

        monkeypatch.setattr(it.stores[1], "open_turn", open_late)
        late = asyncio.create_task(it.assistants[1].desk.take("ann", by="bob"))
        await looked.wait()
        await it.assistants[0].desk.take("ann", by="eve")
        taken.set()
        with pytest.raises(HandoverConflict, match="eve has this dialog"):
            await late

        assert (await say(it, 1, "anybody?")).reply.text == ""
        assert not it.database.waiting.get("ann")


async def test_a_caller_that_goes_away_leaves_its_turn_in_line() -> None:
    async with fleet(gated=[0]) as it:
        first = say(it, 0, "a")
        await it.gates[0].started.wait()
        second = say(it, 1, "b")
        await until(lambda: it.database.waiting.get("ann"))
        second.cancel()
        it.gates[0].opened.set()
        await first
        third = await say(it, 1, "c")

        assert third.reply.text == "1: c"
        assert await it.said() == ["a", "0: a", "b", "1: b", "c", "1: c"]


async def test_a_lease_has_bounds() -> None:
    with pytest.raises(ConfigError, match="lease"):
        Assistant(
            Pipeline(skills=[Service("echo", FakeService())]), replica=ReplicaSettings(lease=0.0)
        )


async def test_a_switched_service_is_off_at_all_replicas() -> None:
    async with fleet(2, skills=[skill("a", "A", 0.9), skill("b", "B", 0.1)]) as it:
        one, other = it.assistants
        await one.switches.switch(one.engine.find_step("a"), on=False, by="eve")
        await until(lambda: other.services()[0].off == "switched off by eve")
        replies = [await other.reply("hi", user="ann"), await one.reply("hi", user="ann")]
        await other.switches.switch(other.engine.find_step("a"), on=True, by="bob")
        await until(lambda: one.services()[0].off is None)

    assert [reply.text for reply in replies] == ["B", "B"]
