"""The dialogs of a store as data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from prolocutor.cli.archives import read_from
from prolocutor.dialog.dialog import Dialog


def dialogs_of(
    store: str, user: str | None = None
) -> Callable[[], AbstractAsyncContextManager[AsyncIterator[Dialog]]]:
    """Return what opens the dialogs of a store, beside its owner; "" is the user's own store."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[AsyncIterator[Dialog]]:
        async with read_from(store or None) as archive:
            yield archive.export(user=user)

    return opened
