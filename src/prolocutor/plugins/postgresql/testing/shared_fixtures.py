"""Fixtures of the kits for shared stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import cast

import pytest
import pytest_asyncio

from prolocutor.contracts.store import OpenedTurn, TurnOpening
from prolocutor.errors import PersonBusy
from prolocutor.plugins.postgresql.replicas.shared_store import ReplicaStore
from prolocutor.testing.store_fixtures import (
    MakeStore,
    StoreFixtures,
    open_for_test,
    words,
)

LEASE = 60.0
PATIENCE = 30.0


Replica = ReplicaStore

RunOut = Callable[[Replica], Awaitable[None]]
LoseAnswer = Callable[[Replica], None]


class SharedStoreFixtures(StoreFixtures):
    """The fixtures of every kit of shared stores."""

    @pytest.fixture
    def run_out(self) -> RunOut:
        """Return a function for ending the lease of a store's replica, by the database's clock."""
        raise NotImplementedError

    @pytest.fixture
    def lose_answer(self) -> LoseAnswer:
        """Return a function to make the next opening or closing of a turn raise when stored."""
        pytest.skip("this store cannot be made to lose an answer")

    @pytest_asyncio.fixture
    async def three(self, make_store: MakeStore) -> AsyncIterator[list[Replica]]:
        """Return three open and joined stores."""
        async with AsyncExitStack() as stack:
            stores = []
            for number in range(3):
                store = cast("Replica", await stack.enter_async_context(open_for_test(make_store)))
                await store.join(LEASE, f"http://replica-{number}")
                stores.append(store)
            yield stores


async def whose_turn(
    stores: list[Replica], openings: list[TurnOpening], skip: set[int]
) -> tuple[int, OpenedTurn]:
    """Let all waiting turns try again; a single task has its turn."""
    found: list[tuple[int, OpenedTurn]] = []
    for number, opening in enumerate(openings):
        if number in skip:
            continue
        try:
            opened = await stores[number % 3].open_turn(opening)
        except PersonBusy:
            continue
        assert isinstance(opened, OpenedTurn)
        found.append((number, opened))
    (only,) = found
    return only


async def open_turns(store: Replica, *openings: TurnOpening) -> list[OpenedTurn]:
    """Open turns, which must be new."""
    opened = [await store.open_turn(opening) for opening in openings]
    assert all(isinstance(one, OpenedTurn) for one in opened)
    return cast("list[OpenedTurn]", opened)


async def read_words(store: Replica, user: str) -> list[str]:
    """Return the words of a feed; its numbers must have no gap."""
    rows = await store.feed(user, 0, 1000)
    assert [row.n for row in rows] == list(range(rows[0].n, rows[0].n + len(rows)))
    return [str(words(row.message)) for row in rows]
