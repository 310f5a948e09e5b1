"""OutsideTurns: changes of the database outside of turns: deliveries, agenda, records, ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from prolocutor.contracts.store import (
    MAX_AGENDA_ENTRIES,
    AgendaEntry,
    Amount,
    Delivery,
    RecordChange,
)
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import NotFound, PersonBusy
from prolocutor.plugins.postgresql.closings import entry_arrays, entry_columns
from prolocutor.plugins.postgresql.database_line import Row
from prolocutor.plugins.postgresql.lanes import JobLane
from prolocutor.plugins.postgresql.membership import Membership
from prolocutor.plugins.postgresql.openings import fresh_ids
from prolocutor.plugins.postgresql.remembered import Remembered
from prolocutor.plugins.postgresql.statements import SQL, name_digest, stored_text

STATEMENT_TIMEOUT: Final = 65.0
"""Seconds; deleting a person with all that is theirs may take long."""


class OutsideTurns:
    """Writes on the line for changes, each change a transaction of its own."""

    def __init__(self, lane: JobLane, membership: Membership, remembered: Remembered) -> None:
        self._lane = lane
        self._membership = membership
        self._remembered = remembered

    async def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry, in place of an entry with the same user, skill and key."""
        await self._rows("put_entry", *entry_columns(entry), limit)

    async def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; return False if there is none."""
        return bool(await self._rows("take_entry", stored_text(user), name_digest(skill, key)))

    async def put_record(
        self, user: str, kind: str, key: str, body: bytes, about: str = ""
    ) -> None:
        """Write a document, in place of a document with the same kind and key."""
        names = stored_text(user), name_digest(kind, key), stored_text(kind), stored_text(key)
        await self._rows("put_record", *names, body, stored_text(about))

    async def change_records(self, changes: Sequence[RecordChange]) -> bool:
        """Make all changes of documents, or none; return whether they were made."""
        rows = await self._rows(
            "change_records",
            [stored_text(change.user) for change in changes],
            [name_digest(change.kind, change.key) for change in changes],
            [stored_text(change.kind) for change in changes],
            [stored_text(change.key) for change in changes],
            [change.before for change in changes],
            [change.after for change in changes],
            [stored_text(change.about) for change in changes],
        )
        return bool(rows[0][0])

    async def add_amounts(self, added: Sequence[Amount]) -> list[float] | int:
        """Add all amounts and return the sums, or the index of an amount over its limit."""
        ((refused, sums),) = await self._rows(
            "add_amounts",
            [one.kind for one in added],
            [stored_text(one.user) for one in added],
            [stored_text(one.name) for one in added],
            [one.period for one in added],
            [one.amount for one in added],
            [one.number for one in added],
            [one.limit for one in added],
            repeatable=False,
        )
        return list(sums) if refused is None else int(refused)

    async def delete_amounts(self, kind: str, before: str) -> None:
        """Delete the sums of a kind in earlier periods."""
        await self._rows("delete_amounts", kind, before)

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if there is none."""
        return bool(await self._rows("delete_record", stored_text(user), name_digest(kind, key)))

    async def deliver(self, delivery: Delivery) -> bool:
        """Write the messages and settle the entry; return False if the entry is gone."""
        entry = delivery.entry
        given = entry_columns(entry) if entry is not None else (None,) * 8
        _, place, _, _, name, due, body, dropped = given
        written = [delivery.again] if delivery.again is not None else []
        struck = [name_digest(skill, key) for skill, key in delivery.struck]
        rows = await self._rows(
            "deliver",
            await self._membership.require_number(),
            stored_text(delivery.user),
            stored_text(delivery.dialog_name),
            list(delivery.messages),
            delivery.closing,
            delivery.round,
            *(place, name, due, body, dropped),
            delivery.again is not None,
            struck,
            *entry_arrays([*written, *delivery.entries]),
            MAX_AGENDA_ENTRIES,
            *fresh_ids(delivery),
            repeatable=entry is not None,
        )
        status: str = rows[0][0]
        if status == "busy":
            raise PersonBusy(
                f"a turn of {delivery.user!r} is open, or another replica holds this person"
            )
        if status == "delivered":
            self._remembered.drop(delivery.user)
        return status == "delivered"

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End a person's active dialog of a name."""
        rows = await self._rows(
            "close_dialog",
            self._membership.number,
            stored_text(user),
            stored_text(dialog_name),
        )
        if rows[0]["status"] == "busy":
            raise PersonBusy(f"a turn of {user!r} is open, or another replica holds this person")
        self._remembered.drop(user)
        return DialogId(rows[0][1]) if rows[0][1] is not None else None

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to a dialog."""
        if not await self._rate(dialog_id, None, rating, user, at):
            raise NotFound(f"there is no dialog {dialog_id}", field="dialog_id")

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to an utterance."""
        if not await self._rate(None, utt_id, rating, user, at):
            raise NotFound(f"there is no utterance {utt_id}", field="utt_id")

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all their data; return False if there is none."""
        rows = await self._rows("delete_person", self._membership.number, stored_text(user))
        if rows[0][0] == "busy":
            raise PersonBusy(f"a turn of {user!r} is open, or another replica holds this person")
        await self._rows("delete_amounts_of", stored_text(user), repeatable=False)
        self._remembered.drop(user)
        return bool(rows[0][0] == "deleted")

    async def delete_old_dialog(self, number: int, before: str) -> bool:
        """Delete a dialog with a last utterance older than `before`."""
        rows = await self._rows("delete_old_dialog", number, stored_text(before))
        return bool(rows[0][0])

    async def delete_old_dialogs(self, numbers: Sequence[int], before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`, in one transaction."""
        rows = await self._rows("delete_old_dialogs", list(numbers), stored_text(before))
        return int(rows[0][0])

    async def _rate(
        self, dialog_id: str | None, utt_id: str | None, rating: Any, user: str | None, at: str
    ) -> bool:
        ids = (None if id_ is None else stored_text(id_) for id_ in (dialog_id, utt_id))
        shown = agent_state.rating(rating, user, at)
        value = plain.encode(rating).decode()
        rows = await self._rows("rate", *ids, value, shown, repeatable=False)
        return bool(rows[0][0])

    async def _rows(self, name: str, *values: Any, repeatable: bool = True) -> list[Row]:
        return await self._lane.fetch(
            SQL[name], *values, within=STATEMENT_TIMEOUT, repeatable=repeatable
        )
