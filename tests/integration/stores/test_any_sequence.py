"""Whatever is begun, finished, delivered, closed, deleted and opened again, in whatever order:
numbers have no gaps, nothing comes twice, and all stores are as a simple model says. Of PostgreSQL
there are two stores on one database, which take turns."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.contracts.store import (
    AgendaEntry,
    FeedRow,
    OpenedTurn,
    Store,
    TurnClosing,
    TurnOpening,
)
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.errors import PersonBusy
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.stores.sqlite.sqlite_store import MemoryStore, SqliteStore
from prolocutor.testing.sample_turns import (
    a_closing,
    a_delivery,
    a_message,
    an_entry,
    an_opening,
)
from tests.model_store import ModelStore
from tests.postgresql_server import emptied

USER, NAME = st.sampled_from(["ann", "bob"]), st.sampled_from(["main", "other"])
WORDS = st.lists(st.sampled_from(["a", "b"]), max_size=2)
ROUND = st.none() | st.sampled_from([b"{}", b'{"left":1}', b'{"left":2}'])
KEYS = st.lists(st.sampled_from(["x", "y"]), max_size=2)

STEP = st.one_of(
    st.tuples(st.just("turn"), USER, NAME, WORDS, ROUND, KEYS, KEYS),
    st.tuples(st.just("cut_off_turn"), USER, NAME, WORDS, ROUND, KEYS, KEYS),
    st.tuples(st.just("turn_closed_under_way"), USER, NAME, WORDS, ROUND, KEYS, KEYS),
    st.tuples(st.just("delivery"), USER, NAME, WORDS, ROUND),
    st.tuples(st.just("delivery_of"), USER, NAME, WORDS, ROUND, st.sampled_from(["x", "y"])),
    st.tuples(st.just("close"), USER, NAME),
    st.tuples(st.just("delete_older"), st.integers(0, 3)),
    st.tuples(st.just("delete_person"), USER),
    st.tuples(st.just("open_again")),
)


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(STEP, max_size=20))
def test_numbers_closings_rounds_and_the_agenda_are_as_promised(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Any, ...]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "dialogs.db"
    asyncio.run(_try(steps, Tried(lambda: SqliteStore(path, durability="relaxed"))))


@settings(max_examples=8, deadline=None)
@given(steps=st.lists(STEP, max_size=15))
def test_two_replicas_on_one_database_are_as_the_model_says(
    worker_database: str, steps: list[tuple[Any, ...]]
) -> None:
    asyncio.run(_try_shared(steps, worker_database))


async def _try_shared(steps: list[tuple[Any, ...]], url: str) -> None:
    await emptied(url)
    await _try(steps, Tried(lambda: TakingTurns(url)))


async def _try(steps: list[tuple[Any, ...]], tried: "Tried") -> None:
    await tried.memory.open()
    await tried.open()
    for name, *args in steps:
        await getattr(tried, name)(*args)
        await tried.check()
    await tried.aclose()


class Model:
    """What the stores should hold, in the plainest words."""

    def __init__(self) -> None:
        self.rows: dict[str, list[FeedRow]] = {}
        self.ends: dict[str, int] = {}
        self.ids: dict[tuple[str, str], int] = {}
        self.active: dict[tuple[str, str], str] = {}
        self.rounds: dict[str, bytes] = {}
        self.dates: dict[str, tuple[str, str]] = {}
        self.agenda: list[AgendaEntry] = []
        self.floor = 0

    def dialog(self, user: str, name: str, new_dialog_id: str) -> str:
        self.ends.setdefault(user, self.floor)
        dialog_id = self.active.setdefault((user, name), new_dialog_id)
        self.rounds.setdefault(dialog_id, b"{}")
        return dialog_id

    def say(
        self, user: str, name: str, dialog_id: str, message: bytes | None, closing: bytes | None
    ) -> None:
        id_ = None
        if message is not None:
            id_ = self.ids[user, name] = self.ids.get((user, name), -1) + 1
        self.ends[user] += 1
        row = FeedRow(self.ends[user], dialog_id, message, name, id_, closing)
        self.rows.setdefault(user, []).append(row)

    def strike(self, user: str, key: str) -> bool:
        left = [one for one in self.agenda if (one.user, one.key) != (user, key)]
        found, self.agenda = len(left) < len(self.agenda), left
        return found


class TakingTurns:
    """Two stores on one database: each call goes to the next, the end of a turn to its own."""

    def __init__(self, url: str) -> None:
        self._stores = [PostgresqlStore(url, durability="relaxed") for _ in range(2)]
        self._calls = 0
        self._owners: dict[str, PostgresqlStore] = {}

    async def open(self) -> None:
        for store in self._stores:
            await store.open()
            await store.join(60.0)

    async def aclose(self) -> None:
        for store in self._stores:
            await store.aclose()

    async def open_turn(self, opening: TurnOpening) -> Any:
        store = self._owners[opening.turn_id] = self._next()
        return await store.open_turn(opening)

    async def close_turn(self, closing: TurnClosing) -> None:
        owner = self._owners.get(closing.opened.opening.turn_id) or self._next()
        await owner.close_turn(closing)

    async def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        store = self._owners[turn_id] = self._next()
        return await store.resume_turn(turn_id, window, hypotheses)

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        for store in self._stores:
            with suppress(PersonBusy):  # its turn is open at the other one
                return await store.close_dialog(user, dialog_name)
        raise AssertionError("neither has the person")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._next(), name)

    def _next(self) -> PostgresqlStore:
        self._calls += 1
        return self._stores[self._calls % 2]


class Tried:
    """Three kinds of stores, and the model of what they should hold."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.model = Model()
        self.readable = ModelStore()
        self.memory = MemoryStore()
        self.time = 0

    @property
    def stores(self) -> tuple[Store, ...]:
        return self.readable, self.memory, self.other

    async def open(self) -> None:
        self.other = self.make()
        await self.other.open()

    async def aclose(self) -> None:
        await self.other.aclose()

    async def open_again(self) -> None:
        await self.aclose()
        await self.open()

    async def turn(self, user: str, name: str, *rest: Any) -> None:
        await self._finish(await self._begin(user, name), *rest)

    async def cut_off_turn(self, user: str, name: str, *rest: Any) -> None:
        began = await self._begin(user, name)
        await self.check()
        await self.open_again()
        turn_id = began[0].opening.turn_id
        resumed = [await store.resume_turn(turn_id, 4, 0) for store in self.stores]
        assert [one.feed_id for one in resumed] == [one.feed_id for one in began]
        await self._finish(resumed, *rest)

    async def turn_closed_under_way(self, user: str, name: str, *rest: Any) -> None:
        began = await self._begin(user, name)
        await self.close(user, name)
        await self._finish(began, *rest)

    async def delivery(self, user: str, name: str, words: list[str], round_: bytes | None) -> None:
        await self._deliver(user, name, words, round_, None)

    async def delivery_of(
        self, user: str, name: str, words: list[str], round_: bytes | None, key: str
    ) -> None:
        await self._deliver(user, name, words, round_, an_entry(user, key))

    async def close(self, user: str, name: str) -> None:
        ids = {await store.close_dialog(user, name) for store in self.stores}
        assert ids == {self.model.active.pop((user, name), None)}

    async def delete_older(self, ago: int) -> None:
        before, model = _date(self.time - ago), self.model
        old = {dialog_id for dialog_id, (_, date) in model.dates.items() if date < before}
        assert {await store.delete_older(before) for store in self.stores} == {len(old)}
        model.dates = {id_: date for id_, date in model.dates.items() if id_ not in old}
        model.active = {name: id_ for name, id_ in model.active.items() if id_ not in old}
        for user, rows in model.rows.items():
            model.rows[user] = [row for row in rows if row.dialog_id not in old]

    async def delete_person(self, user: str) -> None:
        model = self.model
        known = user in model.ends or any(one.user == user for one in model.agenda)
        assert {await store.delete_person(user) for store in self.stores} == {known}
        model.floor = max(model.floor, model.ends.pop(user, 0))
        model.rows.pop(user, None)
        model.ids = {key: id_ for key, id_ in model.ids.items() if key[0] != user}
        model.active = {key: id_ for key, id_ in model.active.items() if key[0] != user}
        model.dates = {id_: date for id_, date in model.dates.items() if date[0] != user}
        model.agenda = [one for one in model.agenda if one.user != user]

    async def check(self) -> None:
        """Compare all stores with the model."""
        for store in self.stores:
            for user in ("ann", "bob"):
                rows = self.model.rows.get(user, [])
                assert await store.feed(user, 0, 999) == rows
                assert await store.feed_end(user) == self.model.ends.get(user, 0)
                for name in ("main", "other"):
                    await self._check_name(store, user, name)
            assert await store.due(99.0) == self.model.agenda

    async def _check_name(self, store: Store, user: str, name: str) -> None:
        rows = [row for row in self.model.rows.get(user, []) if row.dialog_name == name]
        dialog_id = self.model.active.get((user, name))
        assert await store.active_dialog_id(user, name) == dialog_id
        assert await store.round(user, name) == self.model.rounds.get(dialog_id or "", b"{}")
        assert await store.feed_tail(user, name, 3) == rows[-3:]
        ids = [row.id for row in rows if row.id is not None]
        assert ids == sorted(set(ids))
        for after in ids[-2:]:
            place = next(i for i, row in enumerate(rows) if row.id == after)
            assert await store.feed_tail(user, name, 2, after) == rows[place + 1 : place + 3]

    async def _begin(self, user: str, name: str) -> list[OpenedTurn]:
        self.time += 1
        opening = an_opening(user, dialog_name=name, date_time=_date(self.time))
        began = [_opened_turn(await store.open_turn(opening)) for store in self.stores]
        dialog_id = self.model.dialog(user, name, opening.new_dialog.dialog_id)
        self.model.dates[dialog_id] = (user, _date(self.time))
        self.model.say(user, name, dialog_id, opening.message, None)
        ids = self.model.ids[user, name]
        assert [(b.dialog_id, b.feed_id, b.round) for b in began] == [
            (dialog_id, ids, self.model.rounds[dialog_id])
        ] * 3
        return began

    async def _finish(
        self, began: list[OpenedTurn], words: list[str], round_: bytes | None, put: list[str],
        struck: list[str],
    ) -> None:  # fmt: skip
        opening: TurnOpening = began[0].opening
        user, messages = opening.user, [a_message(word) for word in words]
        closing = b'{"ask":"yesno"}' if round_ else b'{"ask":null}'
        entries = [an_entry(user, key) for key in put]
        for store, opened in zip(self.stores, began, strict=True):
            ending = a_closing(
                opened, at=opening.date_time, messages=messages, closing=closing, round=round_,
                entries=entries, struck=[("timer", key) for key in struck],
            )  # fmt: skip
            await store.close_turn(ending)
        self._said(user, opening.dialog_name, began[0].dialog_id, messages or [None], closing)
        if round_ is not None:
            self.model.rounds[began[0].dialog_id] = round_
        for key in struck:
            self.model.strike(user, key)
        for entry in entries:
            self.model.strike(user, entry.key)
            self.model.agenda.append(entry)

    async def _deliver(
        self,
        user: str,
        name: str,
        words: list[str],
        round_: bytes | None,
        entry: AgendaEntry | None,
    ) -> None:
        self.time += 1
        delivery = a_delivery(user, *words, dialog_name=name, round=round_, entry=entry,
                              date_time=_date(self.time))  # fmt: skip
        wanted = entry is None or self.model.strike(user, entry.key)
        assert {await store.deliver(delivery) for store in self.stores} == {wanted}
        if not wanted or not (words or round_ is not None):
            return
        dialog_id = self.model.dialog(user, name, delivery.new_dialog.dialog_id)
        self.model.dates.setdefault(dialog_id, (user, _date(self.time)))
        self._said(user, name, dialog_id, delivery.messages, delivery.closing)
        if round_ is not None:
            self.model.rounds[dialog_id] = round_

    def _said(self, user: str, name: str, dialog_id: str, messages: Any, closing: bytes) -> None:
        for position, message in enumerate(messages, start=1):
            last = position == len(messages)
            self.model.say(user, name, dialog_id, message, closing if last else None)


def _opened_turn(opened: Any) -> OpenedTurn:
    assert isinstance(opened, OpenedTurn)
    return opened


def _date(time: int) -> str:
    return f"2024-01-01 00:{time // 60:02}:{time % 60:02}.000000"
