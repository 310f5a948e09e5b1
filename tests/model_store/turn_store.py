"""The turns and the feed of the in-memory store."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter

from msgspec import structs

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
from prolocutor.dialog import agent_state
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.errors import NotFound, RoundChanged, StoreError
from tests.model_store.agenda_store import change
from tests.model_store.state import (
    ModelDialog,
    ModelOpenedTurn,
    ModelOpenTurn,
    ModelRequest,
    ModelState,
    ModelUtterance,
)


class ModelTurnStore:
    """Implements `TurnStore` and `FeedStore`."""

    def __init__(self, state: ModelState) -> None:
        self._state = state

    async def open(self) -> None:
        """Do nothing: it is always ready."""

    async def aclose(self) -> None:
        """Do nothing; the dialogs stay as long as this object does."""

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store what was said and return what the turn starts from."""
        known = self._state.persons.get(opening.user)
        if known is not None and opening.request_key is not None:
            answered = known.answer_to(opening)
            if answered is not None:
                return answered
        now = self._round(opening.user, opening.dialog_name)
        if opening.round not in (None, now):
            raise RoundChanged(now)
        person = self._state.person_for(opening)
        dialog = self._state.dialog_for(person, opening)
        row = person.add_row(dialog, opening.message)
        if opening.request_key is not None:
            person.requests[opening.request_key] = ModelRequest(opening)
        opened = _opened_turn(opening, dialog, row.n, row.id or 0)
        self._state.open_turns[opening.turn_id] = ModelOpenTurn(opened)
        return opened

    async def close_turn(self, closing: TurnClosing) -> None:
        """Store all that the turn added and close it."""
        opened, state = closing.opened, self._state
        opening = opened.opening
        if opening.turn_id not in state.open_turns or not isinstance(opened, ModelOpenedTurn):
            raise StoreError(f"turn {opening.turn_id} is not open; open it first")
        person, dialog = opened.person, opened.dialog
        human, bot = _newest(opened.human, closing.human), _newest(opened.bot, closing.bot)
        utterances = [
            ModelUtterance(
                one, _state_of(one, (bot, opened.bot) if one.by_bot else (human, opened.human))
            )
            for one in closing.utterances
        ]
        del state.open_turns[opening.turn_id]
        person.human, dialog.bot = human, bot
        if closing.previous_reply is not None:
            last = dialog.utterances[opened.length - 1]
            last.parts = structs.replace(last.parts, body=closing.previous_reply)
        dialog.utterances += utterances
        for utterance in utterances:
            state.utterances[utterance.utt_id] = (dialog, utterance)
        person.add_rows(dialog, closing.messages or (None,), closing.closing)
        if closing.round is not None:
            dialog.round = closing.round
        change(state, person.user, closing.struck, closing.entries)
        for record in closing.records:
            state.put_record(person.user, record.kind, record.key, record.body, dialog.dialog_id)
        if opening.request_key is not None:
            person.requests[opening.request_key].outcome = closing.outcome

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """Return the turns that were opened and not closed, oldest first."""
        return [
            UnfinishedTurn(
                turn_id=turn.opened.opening.turn_id,
                user=turn.opened.opening.user,
                started=turn.opened.opening.started,
                attempts=turn.attempts,
            )
            for turn in self._state.open_turns.values()
        ]

    async def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count one more attempt and return what the turn starts from."""
        turn = self._state.open_turns.get(turn_id)
        if turn is None:
            raise NotFound(f"no turn {turn_id} is open", field="turn_id")
        turn.attempts += 1
        before = turn.opened
        turn.opened = _opened_turn(before.opening, before.dialog, before.feed, before.feed_id)
        turn.opened.window = before.dialog.window(window, hypotheses)
        turn.opened.attempt = turn.attempts
        return turn.opened

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End the active dialog of that name."""
        person = self._state.persons.get(user)
        dialog = person.active.pop(dialog_name, None) if person else None
        if dialog is None:
            return None
        dialog.active = False
        return dialog.dialog_id

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return up to `limit` rows with `n > after`, ascending."""
        person = self._state.persons.get(user)
        if person is None:
            return []
        start = bisect_right(person.feed, after, key=attrgetter("n"))
        return person.feed[start : start + limit]

    async def feed_end(self, user: str) -> int:
        """Return the number of the last row ever written for this person, 0 if none."""
        person = self._state.persons.get(user)
        return person.feed_end if person else 0

    async def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last rows of one dialog name, or the first after the message `after`."""
        person = self._state.persons.get(user)
        rows = [row for row in person.feed if row.dialog_name == dialog_name] if person else []
        if after is None:
            return rows[max(0, len(rows) - limit) :]
        start = len(rows)
        while start and not _is_up_to(rows[start - 1], after):
            start -= 1
        return rows[start : start + limit]

    async def round(self, user: str, dialog_name: str) -> bytes:
        """Return the round of the active dialog of that name."""
        return self._round(user, dialog_name)

    def _round(self, user: str, dialog_name: str) -> bytes:
        person = self._state.persons.get(user)
        dialog = person.active.get(dialog_name) if person else None
        return dialog.round if dialog else NO_ROUND


def _is_up_to(row: FeedRow, after: int) -> bool:
    return row.id is not None and row.id <= after


def _opened_turn(
    opening: TurnOpening, dialog: ModelDialog, feed: int, feed_id: int
) -> ModelOpenedTurn:
    return ModelOpenedTurn(
        opening=opening,
        person=dialog.person,
        dialog=dialog,
        dialog_id=dialog.dialog_id,
        id=dialog.id,
        date_start=dialog.date_start,
        dialog_attributes=dialog.attributes,
        rating=agent_state.last_rating(dialog.ratings),
        human=dialog.person.human,
        bot=dialog.bot,
        window=dialog.window(opening.window, opening.hypotheses),
        length=len(dialog.utterances),
        feed=feed,
        feed_id=feed_id,
        round=dialog.round,
    )


def _newest(known: ProfileVersion, new: NewProfileVersion | None) -> ProfileVersion:
    return ProfileVersion(new.number, new.state) if new else known


def _state_of(new: NewUtterance, versions: tuple[ProfileVersion, ProfileVersion]) -> bytes:
    for version in versions:
        if version.number == new.user_version:
            return version.state
    raise StoreError(f"utterance {new.utt_id} shows an unknown profile version")
