"""The conversations of the in-memory store."""

from __future__ import annotations

from itertools import islice
from typing import Final

from prolocutor.contracts.store import ConversationRow, FeedRow
from tests.model_store.state import ModelOpenTurn, ModelPerson, ModelState

FIRST_ROWS: Final = 20
"""Rows at the beginning of a conversation among which words of the person are looked for."""

_COMMAND: Final = b'{"type":"command"'


class ModelConversationStore:
    """Implements `ConversationStore`."""

    _state: ModelState

    async def conversations(
        self, user: str, before: int | None = None, limit: int = 50
    ) -> list[ConversationRow]:
        """Return conversations with `n < before`, the latest first."""
        person = self._state.persons.get(user)
        if person is None:
            return []
        last = {row.dialog_name: row for row in person.feed}
        latest = sorted(last.values(), key=lambda row: row.n, reverse=True)
        return [
            ConversationRow(
                row.dialog_name,
                row.n,
                self._state.dialogs[row.dialog_id].last_date,
                _first_words(person, row.dialog_name),
            )
            for row in latest
            if before is None or row.n < before
        ][:limit]

    async def feed_before(
        self, user: str, before: int | None = None, limit: int = 100
    ) -> list[FeedRow]:
        """Return rows with `n < before`, the latest first."""
        person = self._state.persons.get(user)
        if person is None:
            return []
        open_now = {turn.opened.feed for turn in self._open_turns_of(person)}
        found = (
            row
            for row in reversed(person.feed)
            if (before is None or row.n < before) and row.n not in open_now
        )
        return list(islice(found, limit))

    async def delete_conversation(self, user: str, dialog_name: str) -> int:
        """Delete the dialogs of that name in which no turn runs; return their number."""
        person = self._state.persons.get(user)
        if person is None:
            return 0
        open_now = {id(turn.opened.dialog) for turn in self._open_turns_of(person)}
        found = [
            dialog
            for dialog in self._state.dialogs_of(user)
            if dialog.name == dialog_name and id(dialog) not in open_now
        ]
        for dialog in found:
            self._state.delete(dialog)
        return len(found)

    def _open_turns_of(self, person: ModelPerson) -> list[ModelOpenTurn]:
        return [turn for turn in self._state.open_turns.values() if turn.opened.person is person]


def _first_words(person: ModelPerson, name: str) -> bytes | None:
    messages = (row.message for row in person.feed if row.dialog_name == name and row.message)
    first = islice(messages, FIRST_ROWS)
    return next((message for message in first if message.startswith(_COMMAND)), None)
