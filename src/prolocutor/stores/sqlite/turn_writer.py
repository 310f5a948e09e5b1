"""What a turn or a delivery does to the file: called in the writer's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import structs

from prolocutor.contracts.store import (
    AnsweredRequest,
    Delivery,
    NewProfileVersion,
    NewUtterance,
    OpenedTurn,
    ProfileVersion,
    TurnClosing,
    TurnOpening,
    UnfinishedTurn,
    UtteranceParts,
)
from prolocutor.dialog import plain
from prolocutor.errors import Conflict, NotFound, StoreError
from prolocutor.stores.sqlite.agenda_writer import AgendaWriter
from prolocutor.stores.sqlite.head_cache import DialogHead, HeadCache, MessageNumbering, PersonHead
from prolocutor.stores.sqlite.head_factory import HeadFactory
from prolocutor.stores.sqlite.pending_rows import PendingRows
from prolocutor.stores.sqlite.profiles import FRAME
from prolocutor.stores.sqlite.queries import named

DAY: Final = 86_400.0

_ANSWERED: Final = named("answered_request")
_OPEN_TURN: Final = named("open_turn")
_OPEN_TURNS: Final = named("open_turns")
_COUNT_ATTEMPT: Final = named("count_attempt")
_CLOSE_DIALOG: Final = named("close_dialog")
_DIALOG_BY_NUMBER: Final = named("dialog_by_number")
_HYPOTHESES: Final = named("hypotheses_of")
_OLDEST_REQUEST: Final = named("oldest_request")
_FORGET_REQUESTS: Final = named("forget_requests")
_LAST_NUMBERS: Final = named("last_numbers")

_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(TurnOpening).decode


class TurnWriter:
    """The turns of all people: gathers rows for the file and keeps the heads up to date."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        rows: PendingRows,
        heads: HeadCache,
        agenda: AgendaWriter,
    ) -> None:
        self._connection = connection
        self._rows = rows
        self._heads = heads
        self._agenda = agenda
        numbers = connection.execute(_LAST_NUMBERS).fetchone()
        person, dialog, dialog_name, self._utterance = (number or 0 for number in numbers)
        self._newcomers = HeadFactory(connection, rows, heads, (person, dialog, dialog_name))
        self._newest_start = 0.0
        self._requests_added = 0

    def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Write down what was said and give what the turn starts from."""
        person = self._heads.person(opening.user)
        if person is None:
            person = self._newcomers.person(opening)
        elif opening.request_key is not None:
            answered = self._answered(person, opening)
            if answered is not None:
                return answered
        name = opening.dialog_name
        dialog = self._heads.dialog(person, name, opening.window)
        if dialog is None:
            dialog = self._newcomers.dialog(person, opening, opening.window)
        numbering = self._newcomers.numbering(person, name)
        numbering.end += 1
        person.feed += 1
        self._newest_start = max(self._newest_start, opening.started)
        if opening.request_key is not None:
            person.open[opening.request_key] = (opening.turn_id, opening.request_hash)
        self._rows.open_turns += (
            person.person,
            opening.turn_id,
            dialog.dialog,
            person.feed,
            opening.started,
            opening.request_key,
            opening.request_hash,
            _pack(opening),
            numbering.dialog_name,
            numbering.end,
        )
        window, hypotheses = opening.window, opening.hypotheses
        place = person.feed, numbering.end
        return self._opened_turn(opening, person, dialog, window, hypotheses, place, 1)

    def close_turn(self, finished: TurnClosing) -> None:
        """Add all that the turn added, and close it."""
        opened = finished.opened
        opening = opened.opening
        person = self._heads.person(opening.user)
        if person is None or person.person != opened.person:
            raise StoreError(f"turn {opening.turn_id} is not open: its person was deleted")
        dialog = person.dialogs.get(opening.dialog_name)
        if dialog is not None and dialog.dialog != opened.dialog:
            dialog = None
        human = self._newest(person.human_id, opened.human, finished.human)
        bot_id = dialog.bot_id if dialog else self._bot_id(opened.dialog)
        bot = self._newest(bot_id, opened.bot, finished.bot)
        position = opened.length
        for spoken in finished.utterances:
            versions = (bot, opened.bot) if spoken.by_bot else (human, opened.human)
            self._add_utterance(opened.dialog, dialog, position, spoken, versions)
            position += 1
        if finished.human is not None:
            person.human = human
        if dialog is not None:
            dialog.bot = bot
            dialog.trim()
        self._add_said(person, finished)
        self._set_round(opened.dialog, dialog, finished.round)
        self._agenda.change(person.user, finished.struck, finished.entries)
        self._rows.closed += (opened.person, opening.turn_id)
        if dialog is None:
            # What is not remembered must be in the file before anyone looks for it there.
            self._rows.write(self._connection)

    def deliver(self, delivery: Delivery) -> bool:
        """Add what the assistant says unasked and settle its entry; False if that is gone."""
        if not self._agenda.settle(delivery.entry, delivery.again):
            return False
        self._agenda.change(delivery.user, delivery.struck, delivery.entries)
        if not delivery.messages and delivery.round is None:
            return True
        person = self._heads.person(delivery.user) or self._newcomers.person(delivery)
        name = delivery.dialog_name
        dialog = self._heads.dialog(person, name, 0)
        if dialog is None:
            dialog = self._newcomers.dialog(person, delivery, 0)
        numbering = self._newcomers.numbering(person, name)
        messages = delivery.messages
        self._add_messages(person, dialog.dialog, numbering, messages, delivery.closing)
        self._set_round(dialog.dialog, dialog, delivery.round)
        return True

    def unfinished_turns(self) -> list[UnfinishedTurn]:
        """List the open turns, oldest first."""
        return [
            UnfinishedTurn(turn_id=turn_id, user=user, started=started, attempts=attempts)
            for turn_id, user, started, attempts in self._connection.execute(_OPEN_TURNS)
        ]

    def resume_turn(self, turn_id: str, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count one more attempt and give what the turn starts from."""
        row = self._connection.execute(_OPEN_TURN, (turn_id,)).fetchone()
        if row is None:
            raise NotFound(f"no turn {turn_id} is open", field="turn_id")
        number, dialog_number, feed, attempts, packed, feed_id = row
        opening = _unpack(packed)
        self._connection.execute(_COUNT_ATTEMPT, (number, turn_id))
        person = self._heads.person(opening.user)
        assert person is not None
        dialog = self._heads.dialog(person, opening.dialog_name, window)
        if dialog is None or dialog.dialog != dialog_number:
            dialog = self._heads.dialog_by_number(person, dialog_number, window)
        place = feed, feed_id
        return self._opened_turn(opening, person, dialog, window, hypotheses, place, attempts + 1)

    def close_dialog(self, user: str, dialog_name: str) -> str | None:
        """End the active dialog of that name and give its id."""
        person = self._heads.person(user)
        dialog = self._heads.dialog(person, dialog_name, 0) if person else None
        if person is None or dialog is None:
            return None
        self._connection.execute(_CLOSE_DIALOG, (dialog.dialog,))
        person.dialogs.pop(dialog_name, None)
        return dialog.dialog_id

    def forget_expired(self) -> None:
        """Let go of requests that were answered more than a day before the newest turn began.

        Twice as many are looked at as were added since the last time, so that old ones run out.
        """
        execute, since = self._connection.execute, self._newest_start - DAY
        oldest = execute(_OLDEST_REQUEST).fetchone()
        if oldest is not None and oldest[0] < since:
            execute(_FORGET_REQUESTS, (2 * self._requests_added + 100, since))
        self._requests_added = 0

    def _answered(self, person: PersonHead, opening: TurnOpening) -> AnsweredRequest | None:
        """Tell what became of this request; None if it is new."""
        key = opening.request_key or ""
        found: tuple[str, bytes | None] | None = person.open.get(key)
        outcome = None
        if found is None:
            if self._rows.requests:
                self._rows.write(self._connection)
            since = opening.started - DAY
            row = self._connection.execute(_ANSWERED, (person.person, key, since)).fetchone()
            if row is None:
                return None
            found, outcome = (row[0], row[1]), row[2]
        if found[1] != opening.request_hash:
            raise Conflict(
                f"the request key {key!r} was used for another request", field="Idempotency-Key"
            )
        return AnsweredRequest(turn_id=found[0], reply=outcome)

    def _opened_turn(
        self,
        opening: TurnOpening,
        person: PersonHead,
        dialog: DialogHead,
        window: int | None,
        hypotheses: int,
        place: tuple[int, int],
        attempt: int,
    ) -> OpenedTurn:
        """Return what a turn starts from; `place` is n and id of its first row of the feed."""
        recent = dialog.recent if window is None else dialog.recent[-window:] if window else []
        said = [one for one, _ in recent]
        if hypotheses:
            for i in [i for i, one in enumerate(said) if not one.by_bot][-hypotheses:]:
                row = self._connection.execute(_HYPOTHESES, (recent[i][1],)).fetchone()
                if row is not None:
                    said[i] = structs.replace(said[i], hypotheses=row[0])
        return OpenedTurn(
            opening=opening,
            person=person.person,
            dialog=dialog.dialog,
            dialog_id=dialog.dialog_id,
            id=dialog.id,
            date_start=dialog.date_start,
            dialog_attributes=dialog.attributes,
            rating=dialog.rating,
            human=person.human,
            bot=dialog.bot,
            window=said,
            length=dialog.length,
            feed=place[0],
            feed_id=place[1],
            attempt=attempt,
            round=dialog.round,
        )

    def _newest(
        self, owner: str, known: ProfileVersion, new: NewProfileVersion | None
    ) -> ProfileVersion:
        if new is None:
            return known
        frame = None if new.number % FRAME else new.state
        self._rows.versions += (owner, new.number, plain.encode(new.changes), frame)
        return ProfileVersion(new.number, new.state)

    def _bot_id(self, dialog: int) -> str:
        row = self._connection.execute(_DIALOG_BY_NUMBER, (dialog,)).fetchone()
        return str(row[4])

    def _add_utterance(
        self,
        number: int,
        dialog: DialogHead | None,
        position: int,
        spoken: NewUtterance,
        versions: tuple[ProfileVersion, ProfileVersion],
    ) -> None:
        state = _state(spoken, versions)
        self._utterance += 1
        self._rows.utterances += (self._utterance, number, position, spoken.utt_id, spoken.by_bot,
                                  spoken.user_version, spoken.date_time, spoken.body)  # fmt: skip
        if spoken.hypotheses is not None:
            self._rows.hypotheses += (self._utterance, spoken.hypotheses)
        if spoken.active_skill and (dialog is None or spoken.active_skill not in dialog.skills):
            self._rows.spoke += (spoken.active_skill, number)
        if dialog is None:
            return
        if spoken.active_skill:
            dialog.skills.add(spoken.active_skill)
        dialog.add(UtteranceParts(spoken.by_bot, spoken.body, state), self._utterance)

    def _add_said(self, person: PersonHead, finished: TurnClosing) -> None:
        """Add the feed's rows of a turn, and its outcome for a client that asks again."""
        opened, opening = finished.opened, finished.opened.opening
        numbering = self._newcomers.numbering(person, opening.dialog_name)
        self._rows.feed += (opened.person, opened.feed, opened.dialog, opening.message,
                            numbering.dialog_name, opened.feed_id, None)  # fmt: skip
        messages = finished.messages or (None,)
        self._add_messages(person, opened.dialog, numbering, messages, finished.closing)
        if opening.request_key is not None:
            person.open.pop(opening.request_key, None)
            self._requests_added += 1
            self._rows.requests += (
                opened.person,
                opening.request_key,
                opening.request_hash,
                opening.turn_id,
                opened.dialog,
                opening.started,
                finished.outcome,
            )

    def _add_messages(
        self,
        person: PersonHead,
        dialog: int,
        numbering: MessageNumbering,
        messages: Sequence[bytes | None],
        closing: bytes,
    ) -> None:
        """Add rows to the feed, the last with the closing; what is no message gets no new id."""
        feed = self._rows.feed
        last = len(messages) - 1
        for position, message in enumerate(messages):
            person.feed += 1
            if message is not None:
                numbering.end += 1
            feed += (person.person, person.feed, dialog, message, numbering.dialog_name,
                     numbering.end, closing if position == last else None)  # fmt: skip

    def _set_round(self, number: int, dialog: DialogHead | None, round_: bytes | None) -> None:
        if round_ is None or (dialog is not None and dialog.round == round_):
            return
        if dialog is not None:
            dialog.round = round_
        self._rows.rounds[number] = round_


def _state(spoken: NewUtterance, versions: tuple[ProfileVersion, ProfileVersion]) -> bytes:
    for version in versions:
        if version.number == spoken.user_version:
            return version.state
    raise StoreError(f"utterance {spoken.utt_id} shows an unknown profile version")
