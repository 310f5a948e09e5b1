"""The conversations of a PostgreSQL store."""

from __future__ import annotations

from typing import Final

from prolocutor.contracts.store import ConversationRow, FeedRow
from prolocutor.plugins.postgresql.outside_turns import OutsideTurns
from prolocutor.plugins.postgresql.reader import PostgresqlReader

_NEVER: Final = (1 << 63) - 1
_ANY_DATE: Final = "9999"
"""Greater than every number of a feed, and than every time."""


class PostgresqlConversationStore:
    """Implements `ConversationStore`."""

    _reader: PostgresqlReader
    _others: OutsideTurns

    async def conversations(
        self, user: str, before: int | None = None, limit: int = 50
    ) -> list[ConversationRow]:
        """Return conversations with `n < before`, the latest first."""
        return await self._reader.conversations(user, before or _NEVER, limit)

    async def feed_before(
        self, user: str, before: int | None = None, limit: int = 100
    ) -> list[FeedRow]:
        """Return rows with `n < before`, the latest first."""
        return await self._reader.feed_before(user, before or _NEVER, limit)

    async def delete_conversation(self, user: str, dialog_name: str) -> int:
        """Delete the dialogs of that name in which no turn runs; return their number."""
        deleted = 0
        for number in await self._reader.dialogs_named(user, dialog_name):
            deleted += await self._others.delete_old_dialog(number, _ANY_DATE)
        return deleted
