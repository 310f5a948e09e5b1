"""Titles of dialogs as their persons see them at the chat page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from prolocutor.contracts.store import RecordStore
from prolocutor.contracts.turn_record_store import TurnRecordStore
from prolocutor.web.titles import given_titles, says_enough, title_of

READ_TURNS: Final = 10
"""First turns of a dialog that are read for its title."""

MOST_CACHED: Final = 2_000


class DialogTitles:
    """Finds the titles of dialogs; titles made of words that stay the first ones are cached."""

    def __init__(self, records: TurnRecordStore, store: RecordStore) -> None:
        self._records, self._store = records, store
        self._made: dict[str, tuple[str, str]] = {}

    async def find(self, dialogs: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Return the titles of dialogs, given as pairs of id and user, by id."""
        given: dict[str, dict[str, str]] = {}
        titles = {}
        for dialog_id, user in dialogs:
            if user not in given:
                given[user] = await given_titles(self._store, user)
            name, made = self._made.get(dialog_id) or await self._make(dialog_id)
            titles[dialog_id] = given[user].get(name) or made
        return titles

    async def _make(self, dialog_id: str) -> tuple[str, str]:
        """Return the name of a dialog and the title made of its first words."""
        head = await self._records.head(dialog_id)
        said = [one.said for one in await self._records.turns(dialog_id, None, READ_TURNS)]
        made = ("" if head is None else head.name), title_of(said)
        if any(map(says_enough, said)):
            if len(self._made) >= MOST_CACHED:
                self._made.clear()
            self._made[dialog_id] = made
        return made
