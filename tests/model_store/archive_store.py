"""The archive of the in-memory store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import islice
from typing import Any

from msgspec import structs

from prolocutor.contracts.store import ALL_DIALOGS, DialogQuery, RatedReply
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import NotFound
from tests.model_store.state import ModelState


class ModelArchiveStore:
    """Implements `ArchiveStore`."""

    def __init__(self, state: ModelState) -> None:
        self._state = state

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Return a whole dialog by `dialog_id` or `_id`."""
        dialog = self._state.dialogs.get(dialog_id)
        return dialog.whole() if dialog else None

    async def turn(self, utt_id: str) -> list[HumanUtterance | BotUtterance]:
        """Return what was said to the reply with this `utt_id`, and the reply."""
        dialog, reply = self._state.utterances.get(utt_id, (None, None))
        if dialog is None or reply is None or not reply.parts.by_bot:
            return []
        position = dialog.utterances.index(reply)
        return dialog.whole().utterances[max(position - 1, 0) : position + 1]

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> DialogId | None:
        """Return the `dialog_id` of the person's active dialog of that name."""
        person = self._state.persons.get(user)
        dialog = person.active.get(dialog_name) if person else None
        return dialog.dialog_id if dialog else None

    async def dialog_ids(self, query: DialogQuery = ALL_DIALOGS) -> list[DialogId]:
        """Return the ids of the dialogs that match, oldest first."""
        start = None if query.after is None else self._state.dialogs.get(query.after)
        rating = plain.encode(query.rating)
        found = (
            dialog.dialog_id
            for dialog in self._state.dialogs_of(query.user)
            if (query.user_prefix is None or dialog.person.user.startswith(query.user_prefix))
            and (
                query.skill is None
                or any(utterance.skill == query.skill for utterance in dialog.utterances)
            )
            and (query.rating is None or dialog.is_rated(rating))
            and (query.since is None or dialog.date_start >= query.since)
            and (query.until is None or dialog.date_start < query.until)
            and (query.active is None or dialog.active == query.active)
            and (start is None or dialog.number > start.number)
            and (query.after is None or start is not None or dialog.dialog_id > query.after)
        )
        ordered = reversed(list(found)) if query.newest_first else found
        return list(islice(ordered, query.offset, query.offset + query.limit))

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the dialog's."""
        dialog = self._state.dialogs.get(dialog_id)
        if dialog is None:
            raise NotFound(f"there is no dialog {dialog_id}", field="dialog_id")
        dialog.ratings.append(agent_state.rating(rating, user, at))

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the utterance's."""
        _, utterance = self._state.utterances.get(utt_id, (None, None))
        if utterance is None:
            raise NotFound(f"there is no utterance {utt_id}", field="utt_id")
        one = agent_state.rating(rating, user, at)
        self._state.rated.append((utt_id, rating))
        utterance.ratings.append(one)
        utterance.parts = structs.replace(
            utterance.parts, body=agent_state.add_ratings(utterance.parts.body, [one])
        )

    async def ratings_since(self, after: int = 0, limit: int = 10_000) -> list[RatedReply]:
        """Return the latest ratings of replies with numbers above `after`."""
        found = []
        for number, (utt_id, rating) in enumerate(self._state.rated[after:], after + 1):
            turn = await self.turn(utt_id)
            if len(turn) == 2 and isinstance(turn[1], BotUtterance):
                user = self._state.utterances[utt_id][0].person.user
                said, skill = turn[0].text, turn[1].active_skill
                found.append(RatedReply(number, utt_id, user, said, skill, rating))
        return found[-limit:]

    async def rating_count(self) -> int:
        """Return how many ratings of replies there are."""
        return sum(utt_id in self._state.utterances for utt_id, _ in self._state.rated)

    async def find_owner(self, id_: str) -> str | None:
        """Return the user whose dialog or utterance this is."""
        dialog = self._state.dialogs.get(id_) or self._state.utterances.get(id_, (None,))[0]
        return dialog.person.user if dialog else None

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; return False if unknown."""
        state = self._state
        beside = (state.agenda.pop(user, None), state.records.pop(user, None))
        for key in [key for key in state.amounts if key[2] == user]:
            (kind, period, _, name), (amount, number) = key, state.amounts.pop(key)
            if kind == "spent":
                all_, calls = state.amounts.get((kind, period, "", name), (0.0, 0))
                state.amounts[kind, period, "", name] = (all_ + amount, calls + number)
        person = state.persons.pop(user, None)
        if person is None:
            return any(beside)
        state.feed_floor = max(state.feed_floor, person.feed_end)
        for dialog in list(state.dialogs_of(None)):
            if dialog.person is person:
                state.remove(dialog)
        state.open_turns = {
            id_: turn for id_, turn in state.open_turns.items() if turn.opened.person is not person
        }
        return True

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; return their number."""
        open_now = {id(turn.opened.dialog) for turn in self._state.open_turns.values()}
        old = [
            dialog
            for dialog in self._state.dialogs_of(None)
            if id(dialog) not in open_now and dialog.last_date < before
        ]
        for dialog in old:
            self._state.delete(dialog)
        return len(old)

    async def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first."""
        for dialog in list(self._state.dialogs_of(user)):
            if dialog.dialog_id in self._state.dialogs:
                yield dialog.whole()

    async def erase(self) -> None:
        """Do nothing: nothing is left."""
