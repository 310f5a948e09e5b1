"""The turns and the feed, kept in dictionaries."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter

from prolocutor.contracts.store import (
    NO_ROUND,
    Answered,
    Beginning,
    Begun,
    FeedRow,
    Finished,
    NewVersion,
    OpenTurn,
    Spoken,
    Version,
)
from prolocutor.dialog import splicing
from prolocutor.errors import NotFound, StoreError
from prolocutor.stores.memory.agenda import change
from prolocutor.stores.memory.kept import Kept, KeptDialog, KeptUtterance, OpenOne, Person, Request


class MemoryTurns:
    """Keeps the promises `TurnStore` and `Feed`."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    async def open(self) -> None:
        """Do nothing: it is always ready."""

    async def aclose(self) -> None:
        """Do nothing; what was said stays as long as this object does."""

    async def begin(self, beginning: Beginning) -> Begun | Answered:
        """Keep what was said and return what the turn starts from."""
        person = self._kept.person_for(beginning)
        if beginning.request_key is not None:
            answered = person.answered(beginning)
            if answered is not None:
                return answered
        dialog = self._kept.dialog_for(person, beginning)
        row = person.say(dialog, beginning.message)
        if beginning.request_key is not None:
            person.requests[beginning.request_key] = Request(beginning)
        place = row.n, row.id or 0
        begun = _begun(beginning, dialog, place, beginning.window, beginning.hypotheses)
        self._kept.open[beginning.turn_id] = OpenOne(begun)
        return begun

    async def finish(self, finished: Finished) -> None:
        """Keep all that the turn added and close it."""
        begun, kept = finished.begun, self._kept
        beginning = begun.beginning
        if beginning.turn_id not in kept.open:
            raise StoreError(f"turn {beginning.turn_id} is not open; begin it first")
        person: Person = begun.person
        dialog: KeptDialog = begun.dialog
        human, bot = _newest(begun.human, finished.human), _newest(begun.bot, finished.bot)
        utterances = [
            KeptUtterance(
                one, _state(one, (bot, begun.bot) if one.by_bot else (human, begun.human))
            )
            for one in finished.utterances
        ]
        del kept.open[beginning.turn_id]
        person.human, dialog.bot = human, bot
        dialog.utterances += utterances
        for utterance in utterances:
            kept.utterances[utterance.utt_id] = (dialog, utterance)
        person.say_all(dialog, finished.messages or (None,), finished.closing)
        if finished.round is not None:
            dialog.round = finished.round
        change(kept, person.user, finished.struck, finished.entries)
        if beginning.request_key is not None:
            person.requests[beginning.request_key].outcome = finished.outcome

    async def unfinished(self) -> list[OpenTurn]:
        """List the turns that were begun and not finished, oldest first."""
        return [
            OpenTurn(
                turn_id=turn_id,
                user=one.begun.beginning.user,
                started=one.begun.beginning.started,
                attempts=one.attempts,
            )
            for turn_id, one in self._kept.open.items()
        ]

    async def resume(self, turn_id: str, window: int | None, hypotheses: int) -> Begun:
        """Count one more attempt and return what the turn starts from, as `begin` did."""
        one = self._kept.open.get(turn_id)
        if one is None:
            raise NotFound(f"no turn {turn_id} is open", field="turn_id")
        one.attempts += 1
        began = one.begun
        place = began.feed, began.feed_id
        one.begun = _begun(began.beginning, began.dialog, place, window, hypotheses)
        one.begun.attempt = one.attempts
        return one.begun

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


def _begun(
    beginning: Beginning,
    dialog: KeptDialog,
    place: tuple[int, int],
    window: int | None,
    hypotheses: int,
) -> Begun:
    """Return what a turn starts from; `place` is n and id of its first row of the feed."""
    utterances = dialog.utterances
    earlier = utterances if window is None else utterances[-window:] if window else []
    said = [one.said for one in earlier]
    if hypotheses:
        for i in [i for i, one in enumerate(said) if not one.by_bot][-hypotheses:]:
            said[i] = earlier[i].with_hypotheses()
    return Begun(
        beginning=beginning,
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


def _newest(known: Version, new: NewVersion | None) -> Version:
    return Version(new.number, new.state) if new else known


def _state(spoken: Spoken, versions: tuple[Version, Version]) -> bytes:
    for version in versions:
        if version.number == spoken.user_version:
            return version.state
    raise StoreError(f"utterance {spoken.utt_id} shows an unknown profile version")
