"""Contract tests of turns at several replicas: one at a time, taken over once."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from prolocutor.contracts.store import AnsweredRequest, OpenedTurn
from prolocutor.dialog.ids import TurnId
from prolocutor.errors import (
    DeclaredDead,
    NotFound,
    PersonBusy,
    RoundChanged,
    StoreError,
    TakenOver,
)
from prolocutor.plugins.postgresql.testing.shared_fixtures import (
    LEASE,
    LoseAnswer,
    Replica,
    RunOut,
    SharedStoreFixtures,
    open_turns,
    read_words,
    whose_turn,
)
from prolocutor.testing.sample_turns import (
    a_closing,
    an_opening,
    open_new_turn,
    talk,
)
from prolocutor.testing.store_fixtures import MakeStore, open_for_test, resumable, texts


class SharedTurnsKit(SharedStoreFixtures):
    """The tests of opening, closing and taking over."""

    # -- one turn at a time -----------------------------------------------------------------

    async def test_of_two_that_open_a_turn_at_once_one_waits_and_sees_what_the_other_stored(
        self, three: list[Replica]
    ) -> None:
        await talk(three[0], "ann", "a")
        openings = [an_opening("ann", f"w{number}") for number in range(3)]
        tried = await asyncio.gather(
            *(store.open_turn(one) for store, one in zip(three, openings, strict=True)),
            return_exceptions=True,
        )
        (first,) = [number for number, one in enumerate(tried) if isinstance(one, OpenedTurn)]
        assert sum(isinstance(one, PersonBusy) for one in tried) == 2
        opened = tried[first]
        assert isinstance(opened, OpenedTurn)
        await three[first].close_turn(a_closing(opened, "b"))
        second, late = await whose_turn(three, openings, skip={first})
        assert texts(late)[-2:] == [f"w{first}", "b"]
        await three[second].close_turn(a_closing(late, "c"))
        third, last = await whose_turn(three, openings, skip={first, second})
        await three[third].close_turn(a_closing(last, "d"))
        rows = await three[0].feed("ann", 0)

        assert (last.length, texts(last)[-2:]) == (6, [f"w{second}", "c"])
        assert [row.n for row in rows] == list(range(1, 9))
        assert [row.id for row in rows] == list(range(8))

    async def test_an_answer_that_was_lost_is_had_by_calling_again(
        self, three: list[Replica], lose_answer: LoseAnswer
    ) -> None:
        one = three[0]
        opening = an_opening("ann", "a")
        lose_answer(one)
        with pytest.raises(StoreError):
            await one.open_turn(opening)
        again = await one.open_turn(opening)
        assert isinstance(again, OpenedTurn)
        closing = a_closing(again, "b")
        lose_answer(one)
        with pytest.raises(StoreError):
            await one.close_turn(closing)
        await one.close_turn(closing)
        with pytest.raises(StoreError):
            await one.close_turn(closing)

        assert (again.feed, again.attempt) == (1, 1)
        assert await read_words(three[2], "ann") == ["a", "b"]

    async def test_a_turn_is_opened_once_and_a_person_held_once(self, three: list[Replica]) -> None:
        one = three[0]
        opening = an_opening("ann", "a")
        first, again = await one.open_turn(opening), await one.open_turn(opening)
        assert isinstance(first, OpenedTurn)
        assert isinstance(again, OpenedTurn)
        await one.close_turn(a_closing(again, "b"))
        await one.hold("ann", "h")
        await one.hold("ann", "h")
        await one.release("ann", "h")
        await one.release("ann", "h")
        (opened,) = await talk(three[1], "ann", "c")

        assert (again.feed, again.attempt, opened.length) == (first.feed, 1, 2)
        assert await read_words(three[2], "ann") == ["a", "b", "c", "re: c"]

    async def test_the_same_request_at_another_replica_gets_the_stored_reply(
        self, three: list[Replica]
    ) -> None:
        one, other, _ = three
        opened = await open_new_turn(one, "ann", request_key="k", request_hash=b"h")
        asked = an_opening("ann", request_key="k", request_hash=b"h")
        meanwhile = await other.open_turn(asked)
        with pytest.raises(PersonBusy):
            await other.resume_turn(opened.opening.turn_id, 4, 0)
        await one.close_turn(a_closing(opened, "b"))
        after = await other.open_turn(asked)
        with pytest.raises(NotFound):
            await other.resume_turn(opened.opening.turn_id, 4, 0)
        (next_turn,) = await talk(other, "ann", "c")

        assert meanwhile == AnsweredRequest(turn_id=opened.opening.turn_id, reply=None)
        assert after == AnsweredRequest(turn_id=opened.opening.turn_id, reply=b'{"response":"b"}')
        assert next_turn.length == 2

    async def test_words_read_under_another_round_are_not_stored(
        self, three: list[Replica]
    ) -> None:
        one, other, _ = three
        await talk(one, "ann", "a", round=b'{"left":2}')
        opening = an_opening("ann", "secret", round=b"{}")
        with pytest.raises(RoundChanged) as changed:
            await other.open_turn(opening)
        known = an_opening("ann", "b", turn_id=opening.turn_id, round=changed.value.round)
        opened = await other.open_turn(known)
        assert isinstance(opened, OpenedTurn)
        await other.close_turn(a_closing(opened, round=b"{}"))
        (last,) = await open_turns(one, an_opening("ann", "c", round=b"{}"))

        assert (changed.value.round, opened.round, last.round) == (
            b'{"left":2}',
            b'{"left":2}',
            b"{}",
        )
        assert await read_words(one, "ann") == ["a", "re: a", "b", "hello", "c"]

    # -- dying and taking over --------------------------------------------------------------

    async def test_a_turn_that_was_taken_over_counts_as_its_second_run_has_it(
        self, three: list[Replica], run_out: RunOut
    ) -> None:
        dead, heir, third = three
        first = await open_new_turn(dead, "ann", "a", request_key="k", request_hash=b"h")
        await run_out(dead)
        (left,) = await heir.inherit()
        assert await third.inherit() == []
        with pytest.raises(TakenOver):
            await dead.close_turn(a_closing(first, "from the dead"))
        with pytest.raises(PersonBusy):
            await third.resume_turn(left.turn_id, 4, 0)
        second = await heir.resume_turn(left.turn_id, 4, 0)
        await heir.close_turn(a_closing(second, "from the heir"))
        with pytest.raises(TakenOver):
            await dead.close_turn(a_closing(first, "from the dead"))
        (asked, reply) = await third.turn(first.opening.bot_utt_id)
        answered = await third.open_turn(an_opening("ann", request_key="k", request_hash=b"h"))

        assert (left.turn_id, left.attempts) == (first.opening.turn_id, 1)
        assert (second.attempt, second.feed) == (2, first.feed)
        assert resumable(second) == resumable(first)
        assert (asked.text, reply.text) == ("a", "from the heir")
        assert isinstance(answered, AnsweredRequest)
        assert answered.reply == b'{"response":"from the heir"}'
        assert await read_words(third, "ann") == ["a", "from the heir"]
        takeovers = {replica.url: replica.takeovers for replica in await third.replicas()}
        assert takeovers["http://replica-1"] == 1

    async def test_a_turn_that_was_stored_before_its_replica_died_is_not_taken_over(
        self, three: list[Replica], run_out: RunOut
    ) -> None:
        dead, heir, _ = three
        (opened,) = await talk(dead, "ann", "a")
        await run_out(dead)

        assert await heir.inherit() == []
        with pytest.raises(StoreError):
            await dead.close_turn(a_closing(opened, "again"))
        assert await read_words(heir, "ann") == ["a", "re: a"]

    async def test_of_many_heirs_one_has_the_turn_and_of_storing_and_inheriting_one_wins(
        self, three: list[Replica], run_out: RunOut
    ) -> None:
        dead, *heirs = three
        turns = [await open_new_turn(dead, f"user-{number}", "a") for number in range(12)]
        await run_out(dead)
        done = await asyncio.gather(
            *(dead.close_turn(a_closing(turn, "first run")) for turn in turns),
            *(heir.inherit() for heir in heirs),
            return_exceptions=True,
        )
        stored = {
            turn.opening.turn_id for turn, how in zip(turns, done, strict=False) if how is None
        }
        inherited: list[TurnId] = []
        for heir in heirs:
            for one in await heir.inherit():
                inherited.append(one.turn_id)
                resumed = await heir.resume_turn(one.turn_id, 4, 0)
                await heir.close_turn(a_closing(resumed, "second run"))

        assert all(one is None or isinstance(one, list | TakenOver) for one in done)
        assert sorted([*stored, *inherited]) == sorted(turn.opening.turn_id for turn in turns)
        for turn in turns:
            run = "first run" if turn.opening.turn_id in stored else "second run"
            assert await read_words(heirs[0], turn.opening.user) == ["a", run]

    async def test_the_dead_join_again_under_a_new_number(
        self, three: list[Replica], run_out: RunOut
    ) -> None:
        dead, heir, _ = three
        await run_out(dead)
        assert await dead.beat()  # nobody had looked: it lives on
        await run_out(dead)
        await heir.inherit()
        before = {replica.number for replica in await heir.replicas()}
        with pytest.raises(DeclaredDead):
            await dead.open_turn(an_opening("ann"))
        with pytest.raises(DeclaredDead):
            await dead.hold("ann", "h")
        assert not await dead.beat()
        assert await dead.beat()
        await talk(dead, "ann", "a")

        living = [replica for replica in await heir.replicas() if not replica.dead]
        assert len(living) == 3
        assert len({one.number for one in living} - before) == 1
        assert sorted(one.url for one in living) == [f"http://replica-{n}" for n in range(3)]
        assert all(0 < one.left <= LEASE for one in living)

    async def test_a_replica_that_leaves_is_dead_at_once(
        self, make_store: MakeStore, three: list[Replica]
    ) -> None:
        async with open_for_test(make_store) as leaving:
            await cast("Replica", leaving).join(LEASE)
            opened = await open_new_turn(leaving, "ann")
        (left,) = await three[0].inherit()

        assert left.turn_id == opened.opening.turn_id

    async def test_what_a_replica_opened_itself_is_listed_too(self, three: list[Replica]) -> None:
        one, other, _ = three
        opened = await open_new_turn(one, "ann")

        assert [left.turn_id for left in await one.inherit()] == [opened.opening.turn_id]
        assert [left.turn_id for left in await one.unfinished_turns()] == [opened.opening.turn_id]
        assert (await other.inherit(), await other.unfinished_turns()) == ([], [])
        resumed = await one.resume_turn(opened.opening.turn_id, 4, 0)
        await one.close_turn(a_closing(resumed))
        assert resumed.attempt == 2
