"""The turns and the feed, kept in dictionaries."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter

from prolocutor.contracts.store import (
    NO_ROUND,
    AnsweredRequest,
    FeedRow,
    NewProfileVersion,
    NewUtterance,
    OpenedTurn,
    ProfileVersion,
    TurnClosing,
    TurnOpening,
    UnfinishedTurn,
)
from prolocutor.dialog import splicing
from prolocutor.errors import NotFound, StoreError
from prolocutor.stores.memory.agenda_store import change
from prolocutor.stores.memory.state import (
    MemoryDialog,
    MemoryOpenTurn,
    MemoryPerson,
    MemoryRequest,
    MemoryState,
    MemoryUtterance,
)


class MemoryTurnStore:
    """Keeps the promises `TurnStore` and `FeedStore`."""

    def __init__(self, kept: MemoryState) -> None:
        self._kept = kept

    async def open(self) -> None:
        """Do nothing: it is always ready."""

    async def aclose(self) -> None:
        """Do nothing; what was said stays as long as this object does."""

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Keep what was said and return what the turn starts from."""
        person = self._kept.person_for(opening)
        if opening.request_key is not None:
            answered = person.answered(opening)
            if answered is not None:
                return answered
        dialog = self._kept.dialog_for(person, opening)
        row = person.say(dialog, opening.message)
        if opening.request_key is not None:
            person.requests[opening.request_key] = MemoryRequest(opening)
        place = row.n, row.id or 0
        opened = _opened_turn(opening, dialog, place, opening.window, opening.hypotheses)
        self._kept.open[opening.turn_id] = MemoryOpenTurn(opened)
        return opened

    async def close_turn(self, finished: TurnClosing) -> None:
        """Keep all that the turn added and close it."""
        opened, kept = finished.opened, self._kept
        opening = opened.opening
        if opening.turn_id not in kept.open:
            raise StoreError(f"turn {opening.turn_id} is not open; begin it first")
        person: MemoryPerson = opened.person
        dialog: MemoryDialog = opened.dialog
        human, bot = _newest(opened.human, finished.human), _newest(opened.bot, finished.bot)
        utterances = [
            MemoryUtterance(
                one, _state(one, (bot, opened.bot) if one.by_bot else (human, opened.human))
            )
            for one in finished.utterances
        ]
        del kept.open[opening.turn_id]
        person.human, dialog.bot = human, bot
        dialog.utterances += utterances
        for utterance in utterances:
            kept.utterances[utterance.utt_id] = (dialog, utterance)
        person.say_all(dialog, finished.messages or (None,), finished.closing)
        if finished.round is not None:
            dialog.round = finished.round
        change(kept, person.user, finished.struck, finished.entries)
        if opening.request_key is not None:
            person.requests[opening.request_key].outcome = finished.outcome

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """List the turns that were begun and not finished, oldest first."""
        return [
            UnfinishedTurn(
                turn_id=turn_id,
                user=one.opened.opening.user,
                started=one.opened.opening.started,
                attempts=one.attempts,
            )
            for turn_id, one in self._kept.open.items()
        ]

    async def resume_turn(self, turn_id: str, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count one more attempt and return what the turn starts from, as `begin` did."""
        one = self._kept.open.get(turn_id)
        if one is None:
            raise NotFound(f"no turn {turn_id} is open", field="turn_id")
        one.attempts += 1
        began = one.opened
        place = began.feed, began.feed_id
        one.opened = _opened_turn(began.opening, began.dialog, place, window, hypotheses)
        one.opened.attempt = one.attempts
        return one.opened

    async def close_dialog(self, user: str, dialog_name: str) -> str | None:
        """End the active dialog of that name."""
        person = self._kept.people.get(user)
        dialog = person.active.pop(dialog_name, None) if person else None
        if dialog is None:
            return None
        dialog.active = False
        return dialog.dialog_id

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return up to `limit` rows with `n > after`, ascending."""
        person = self._kept.people.get(user)
        if person is None:
            return []
        start = bisect_right(person.feed, after, key=attrgetter("n"))
        return person.feed[start : start + limit]

    async def feed_end(self, user: str) -> int:
        """Return the number of the last row ever written for this person, 0 if none."""
        person = self._kept.people.get(user)
        return person.feed_end if person else 0

    async def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last rows of one dialog name, or the first after the message `after`."""
        person = self._kept.people.get(user)
        rows = [row for row in person.feed if row.dialog_name == dialog_name] if person else []
        if after is None:
            return rows[max(0, len(rows) - limit) :]
        start = len(rows)
        while start and not _is_up_to(rows[start - 1], after):
            start -= 1
        return rows[start : start + limit]

    async def round(self, user: str, dialog_name: str) -> bytes:
        """Return what the active dialog of that name waits for."""
        person = self._kept.people.get(user)
        dialog = person.active.get(dialog_name) if person else None
        return dialog.round if dialog else NO_ROUND


def _is_up_to(row: FeedRow, after: int) -> bool:
    return row.id is not None and row.id <= after


def _opened_turn(
    opening: TurnOpening,
    dialog: MemoryDialog,
    place: tuple[int, int],
    window: int | None,
    hypotheses: int,
) -> OpenedTurn:
    """Return what a turn starts from; `place` is n and id of its first row of the feed."""
    utterances = dialog.utterances
    earlier = utterances if window is None else utterances[-window:] if window else []
    said = [one.said for one in earlier]
    if hypotheses:
        for i in [i for i, one in enumerate(said) if not one.by_bot][-hypotheses:]:
            said[i] = earlier[i].with_hypotheses()
    return OpenedTurn(
        opening=opening,
        person=dialog.person,
        dialog=dialog,
        dialog_id=dialog.made.new_dialog_id,
        id=dialog.made.new_id,
        date_start=dialog.made.date_time,
        dialog_attributes=dialog.attributes,
        rating=splicing.last_rating(dialog.ratings),
        human=dialog.person.human,
        bot=dialog.bot,
        window=said,
        length=len(utterances),
        feed=place[0],
        feed_id=place[1],
        round=dialog.round,
    )


def _newest(known: ProfileVersion, new: NewProfileVersion | None) -> ProfileVersion:
    return ProfileVersion(new.number, new.state) if new else known


def _state(spoken: NewUtterance, versions: tuple[ProfileVersion, ProfileVersion]) -> bytes:
    for version in versions:
        if version.number == spoken.user_version:
            return version.state
    raise StoreError(f"utterance {spoken.utt_id} shows an unknown profile version")
