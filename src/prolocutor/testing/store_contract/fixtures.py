"""What the kits for stores start from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol, cast

import pytest
import pytest_asyncio
from msgspec.structs import replace

from prolocutor.contracts.shared_store import SharedStore
from prolocutor.contracts.store import NewDialog, OpenedTurn, Store, TurnOpening
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import PersonBusy
from prolocutor.testing.sample_turns import a_closing, open_new_turn

MakeStore = Callable[[], Store]

YESTERDAY = "2024-02-28 12:00:00.000000"
TODAY = "2024-02-29 12:00:00.000000"
TOMORROW = "2024-03-01 12:00:00.000000"

NO_DIALOG = NewDialog(human_id="", dialog_id=DialogId(""), id="", bot_id="")


class StoreFixtures:
    """The fixtures of every store kit."""

    pytestmark = pytest.mark.asyncio

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """Return a function that makes a store that is not open yet."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def store(self, make_store: MakeStore) -> AsyncIterator[Store]:
        """Return an open store."""
        async with open_for_test(make_store) as store:
            yield store


@asynccontextmanager
async def open_for_test(make_store: MakeStore) -> AsyncIterator[Store]:
    """Open a store; close it at the end."""
    store = make_store()
    await store.open()
    try:
        yield store
    finally:
        await store.aclose()


async def store_turn(
    store: Store, user: str, at: str, skill: str = "s", *, dialog_name: str = "main", **ending: Any
) -> str:
    """Store a turn at a time of day; return the id of its dialog."""
    opened = await open_new_turn(store, user, date_time=at, dialog_name=dialog_name)
    await store.close_turn(a_closing(opened, at=at, skill=skill, **ending))
    return opened.dialog_id


async def dialog_of(store: Store, dialog_id: str) -> Dialog:
    """Return a dialog that must exist."""
    dialog = await store.dialog(dialog_id)
    assert dialog is not None
    return dialog


def states(opened: OpenedTurn) -> list[Any]:
    """Return the utterances of a window as agent state."""
    return [plain.decode(said.state) for said in opened.window]


def resumable(opened: OpenedTurn) -> TurnOpening:
    """Return the opening of a turn without the new dialog, which a resumed one need not have."""
    return replace(opened.opening, new_dialog=NO_DIALOG)


def texts(opened: OpenedTurn) -> list[str]:
    """Return the texts of a window."""
    return [state["text"] for state in states(opened)]


def hypotheses(opened: OpenedTurn) -> list[Any]:
    """Return the hypotheses of a window."""
    return [state["hypotheses"] for state in states(opened) if "hypotheses" in state]


def words(message: bytes | None) -> str | None:
    """Return the text of a row of the feed."""
    if message is None:
        return None
    decoded = plain.decode(message)
    return str(decoded.get("text") or decoded.get("command"))


LEASE = 60.0
PATIENCE = 30.0


class Replica(Store, SharedStore, Protocol):
    """The store of one replica: a whole store that is shared."""


RunOut = Callable[[Replica], Awaitable[None]]
LoseAnswer = Callable[[Replica], None]


class SharedStoreFixtures(StoreFixtures):
    """The fixtures of every kit of shared stores."""

    @pytest.fixture
    def run_out(self) -> RunOut:
        """Return what lets the lease of a store's replica run out, by the database's clock."""
        raise NotImplementedError

    @pytest.fixture
    def lose_answer(self) -> LoseAnswer:
        """Return what lets a store open or close its next turn and raise `StoreError` then."""
        pytest.skip("this store cannot be made to lose an answer")

    @pytest_asyncio.fixture
    async def three(self, make_store: MakeStore) -> AsyncIterator[list[Replica]]:
        """Return three open stores that have joined."""
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
    """Let all that wait try again; exactly one has its turn."""
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
    """Open turns that must be new."""
    opened = [await store.open_turn(one) for one in openings]
    assert all(isinstance(one, OpenedTurn) for one in opened)
    return cast("list[OpenedTurn]", opened)


async def said(store: Replica, user: str) -> list[str]:
    """Return the words of a feed, whose numbers must have no gap."""
    rows = await store.feed(user, 0, 1000)
    assert [row.n for row in rows] == list(range(rows[0].n, rows[0].n + len(rows)))
    return [str(words(row.message)) for row in rows]
