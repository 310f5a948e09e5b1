"""Fixtures of the kits for stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace

from prolocutor.contracts.store import NewDialog, OpenedTurn, Store, TurnOpening
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import DialogId
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
        """Return a function to make an unopened store."""
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


async def load_dialog(store: Store, dialog_id: str) -> Dialog:
    """Return a dialog, which must exist."""
    dialog = await store.dialog(dialog_id)
    assert dialog is not None
    return dialog


def states(opened: OpenedTurn) -> list[Any]:
    """Return the utterances of a window as agent state."""
    return [plain.decode(said.state) for said in opened.window]


def resumable(opened: OpenedTurn) -> TurnOpening:
    """Return the opening of a turn without the new dialog, which a resumed turn need not have."""
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
