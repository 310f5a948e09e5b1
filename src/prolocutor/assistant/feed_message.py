"""The feed of a person as those read it who follow it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from prolocutor.assistant.feed import FeedListeners
from prolocutor.contracts.store import FeedRow, FeedStore
from prolocutor.dialog import plain
from prolocutor.dialog.plain import JsonObject


class FeedMessage(msgspec.Struct, frozen=True):
    """One row of a person's feed: `n` ascends by one, `id` within its dialog name.

    `closing` (`{"ask", "code"?, "entities"?}`) is there in the last row of a turn; `message` and
    `id` are None where a turn said nothing.
    """

    n: int
    dialog_id: str
    message: JsonObject | None
    dialog_name: str = "main"
    id: int | None = None
    closing: JsonObject | None = None


def feed_message(row: FeedRow) -> FeedMessage:
    """Decode a row of the feed."""
    return FeedMessage(
        n=row.n,
        dialog_id=row.dialog_id,
        message=None if row.message is None else plain.decode(row.message),
        dialog_name=row.dialog_name,
        id=row.id,
        closing=None if row.closing is None else plain.decode(row.closing),
    )


async def followed(
    listeners: FeedListeners, store: FeedStore, user: str, after: int
) -> AsyncIterator[FeedMessage]:
    """Return every message with `n > after`, then each new one as it comes, without end."""
    with listeners.listening(user) as news:
        while True:
            news.clear()
            rows = await store.feed(user, after)
            for row in rows:
                after = row.n
                yield feed_message(row)
            if not rows:
                await news.wait()
