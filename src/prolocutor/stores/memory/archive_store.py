"""The archive of what is kept in dictionaries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import islice
from typing import Any

from msgspec import structs

from prolocutor.dialog import plain, splicing
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance
from prolocutor.errors import NotFound
from prolocutor.stores.memory.state import MemoryState


class MemoryArchiveStore:
    """Keeps the promise `ArchiveStore`."""

    def __init__(self, kept: MemoryState) -> None:
        self._kept = kept

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Return a whole dialog by `dialog_id` or `_id`."""
        dialog = self._kept.dialogs.get(dialog_id)
        return dialog.whole() if dialog else None

    async def turn(self, utt_id: str) -> list[HumanUtterance | BotUtterance]:
        """Return the reply with this `utt_id` after what it answers."""
        dialog, reply = self._kept.utterances.get(utt_id, (None, None))
        if dialog is None or reply is None or not reply.said.by_bot:
            return []
        position = dialog.utterances.index(reply)
        return dialog.whole().utterances[max(position - 1, 0) : position + 1]

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> str | None:
        """Return the `dialog_id` of the person's active dialog of that name."""
        person = self._kept.people.get(user)
        dialog = person.active.get(dialog_name) if person else None
        return dialog.dialog_id if dialog else None

    async def dialog_ids(
        self,
        *,
        user: str | None = None,
        skill: str | None = None,
        rating: Any = None,
        since: str | None = None,
        until: str | None = None,
        active: bool | None = None,
        after: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> list[str]:
        """Find dialogs, oldest first; each filter is as the contract says."""
        start = self._kept.dialogs.get(after) if after is not None else None
        rated = plain.encode(rating)
        found = (
            dialog.dialog_id
            for dialog in self._kept.dialogs_of(user)
            if (skill is None or any(one.skill == skill for one in dialog.utterances))
            and (rating is None or dialog.is_rated(rated))
            and (since is None or dialog.date_start >= since)
            and (until is None or dialog.date_start < until)
            and (active is None or dialog.active == active)
            and (start is None or dialog.number > start.number)
            and (after is None or start is not None or dialog.dialog_id > after)
        )
        return list(islice(found, offset, offset + limit))

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the dialog's."""
        dialog = self._kept.dialogs.get(dialog_id)
        if dialog is None:
            raise NotFound(f"there is no dialog {dialog_id}", field="dialog_id")
        dialog.ratings.append(splicing.rating(rating, user, at))

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the utterance's."""
        _, utterance = self._kept.utterances.get(utt_id, (None, None))
        if utterance is None:
            raise NotFound(f"there is no utterance {utt_id}", field="utt_id")
        one = splicing.rating(rating, user, at)
        utterance.ratings.append(one)
        utterance.said = structs.replace(
            utterance.said, body=splicing.with_ratings(utterance.said.body, [one])
        )

    async def owner_of(self, id_: str) -> str | None:
        """Return the user whose dialog or utterance this is."""
        dialog = self._kept.dialogs.get(id_) or self._kept.utterances.get(id_, (None,))[0]
        return dialog.person.user if dialog else None

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; False if unknown."""
        kept = self._kept
        beside = (kept.agenda.pop(user, None), kept.records.pop(user, None))
        person = kept.people.pop(user, None)
        if person is None:
            return any(beside)
        kept.feed_floor = max(kept.feed_floor, person.feed_end)
        for dialog in list(kept.dialogs_of(None)):
            if dialog.person is person:
                kept.forget(dialog)
        kept.open = {id_: one for id_, one in kept.open.items() if one.opened.person is not person}
        return True

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; give their number."""
        open_now = {id(one.opened.dialog) for one in self._kept.open.values()}
        old = [
            dialog
            for dialog in self._kept.dialogs_of(None)
            if id(dialog) not in open_now and dialog.last_date < before
        ]
        for dialog in old:
            self._kept.forget(dialog)
            person = dialog.person
            person.feed = [row for row in person.feed if row.dialog_id != dialog.dialog_id]
            if person.active.get(dialog.name) is dialog:
                del person.active[dialog.name]
        return len(old)

    async def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first."""
        for dialog in list(self._kept.dialogs_of(user)):
            if dialog.dialog_id in self._kept.dialogs:
                yield dialog.whole()
