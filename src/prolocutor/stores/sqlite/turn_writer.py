"""The rows written by a turn or a delivery; called in the writer's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import structs

from prolocutor.clocks import DAY
from prolocutor.contracts.store import (
    MAX_AGENDA_ENTRIES,
    NO_ROUND,
    AgendaEntry,
    Amount,
    AnsweredRequest,
    Delivery,
    NewProfileVersion,
    NewUtterance,
    OpenedTurn,
    ProfileVersion,
    RecordChange,
    TurnClosing,
    TurnOpening,
    UnfinishedTurn,
    UtteranceParts,
    pack_opening,
    unpack_opening,
)
from prolocutor.dialog import plain
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.dialog.profile_changes import KEY_FRAME_INTERVAL
from prolocutor.errors import Conflict, NotFound, RoundChanged, StoreError
from prolocutor.stores.sqlite.head_cache import (
    DialogHead,
    HeadCache,
    HeadFactory,
    MessageNumbering,
    PersonHead,
)
from prolocutor.stores.sqlite.queries import SQL, PendingRows
from prolocutor.stores.sqlite.query_rows import DialogRow, SqliteOpenedTurn

MOST_REPLIES: Final = 2_000
"""The number of replies whose numbers are remembered until their records are kept."""


class AgendaWriter:
    """The agenda and the records of all persons; nothing of them is cached."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry; beyond the limit another entry is removed, and counted."""
        self.strike(entry.user, entry.skill, entry.key)
        dropped = self._make_room(entry.user, limit)
        self._execute(SQL["put_entry"], _values(entry))
        if dropped:
            number, _ = self._execute(SQL["earliest_entry"], (entry.user,)).fetchone()
            self._execute(SQL["count_dropped"], (dropped, number))

    def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; return False if it is missing."""
        return self._execute(SQL["take_entry"], (user, skill, key)).rowcount > 0

    def change(
        self, user: str, struck: Iterable[tuple[str, str]], entries: Iterable[AgendaEntry]
    ) -> None:
        """Take entries off, by skill and key, and write others."""
        for skill, key in struck:
            self.strike(user, skill, key)
        for entry in entries:
            self.schedule(entry)

    def settle(self, entry: AgendaEntry | None, again: AgendaEntry | None) -> bool:
        """Take the entry off, or replace it by `again`; return False if it is not as given."""
        if (
            entry is not None
            and not self._execute(SQL["take_entry_as_given"], _values(entry)).rowcount
        ):
            return False
        if again is not None:
            self.schedule(again)
        return True

    def put_record(self, user: str, kind: str, key: str, body: bytes, about: str = "") -> None:
        """Write a document, replacing the document of this kind and key."""
        found = self._execute(SQL["dialog_about"], (about,)).fetchone() if about else None
        self.add_record(user, kind, key, body, None if found is None else found[0])

    def add_record(self, user: str, kind: str, key: str, body: bytes, dialog: int | None) -> None:
        """Write a document, to be deleted with the dialog of this number."""
        self._execute(SQL["put_record"], (user, kind, key, body, dialog))

    def change_records(self, changes: Sequence[RecordChange]) -> bool:
        """Make all of the changes of documents, or leave all unchanged; return whether they were
        made.
        """
        due = []
        for change in changes:
            found = self._execute(
                SQL["record_of"], (change.user, change.kind, change.key)
            ).fetchone()
            body = None if found is None else found[0]
            if body == change.after:
                continue
            if body != change.before:
                return False
            due.append(change)
        for one in due:
            if one.after is None:
                self.delete_record(one.user, one.kind, one.key)
            else:
                self.put_record(one.user, one.kind, one.key, one.after, one.about)
        return True

    def add_amounts(self, added: Sequence[Amount]) -> list[float] | int:
        """Add all of the amounts and return the sums; else the place of the exceeded limit."""
        for place, one in enumerate(added):
            if one.limit is not None:
                of = (one.kind, one.user, one.name, one.period)
                found = self._execute(SQL["amount"], of).fetchone()
                if (0.0 if found is None else found[0]) + one.amount > one.limit:
                    return place
        sums = []
        for one in added:
            values = (one.kind, one.user, one.name, one.period, one.amount, one.number)
            sums.append(self._execute(SQL["add_amount"], values).fetchone()[0])
        return sums

    def delete_amounts(self, kind: str, before: str) -> None:
        """Delete the sums of a kind in earlier periods."""
        self._execute(SQL["delete_amounts"], (kind, before))

    def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if it is missing."""
        return self._execute(SQL["delete_record"], (user, kind, key)).rowcount > 0

    def _make_room(self, user: str, limit: int) -> int:
        """Drop entries to make room for another entry; return the number of dropped entries."""
        (count,) = self._execute(SQL["count_entries"], (user,)).fetchone()
        gone = 0
        for _ in range(count - max(1, limit) + 1):
            number, dropped = self._execute(SQL["entry_to_drop"], (user,)).fetchone()
            self._execute(SQL["drop_entry"], (number,))
            gone += dropped + 1
        return gone


def _values(entry: AgendaEntry) -> tuple[str, str, str, str, float, bytes, int]:
    """Return the columns of an entry, in the order of the statements."""
    return (
        entry.user,
        entry.skill,
        entry.key,
        entry.dialog_name,
        entry.due,
        entry.body,
        entry.dropped,
    )


class RequestLog:
    """Finds and adds requests. Requests of open turns are in the head of their person."""

    def __init__(self, connection: sqlite3.Connection, rows: PendingRows) -> None:
        self._connection = connection
        self._rows = rows
        self._newest_start = 0.0
        self._added = 0

    def answer_to(self, person: PersonHead, opening: TurnOpening) -> AnsweredRequest | None:
        """Return the outcome of this request; None if the request is new."""
        key = opening.request_key or ""
        found: tuple[TurnId, bytes | None] | None = person.open_requests.get(key)
        outcome = None
        if found is None:
            if self._rows.requests:
                self._rows.write(self._connection)
            since = opening.started - DAY
            row = self._connection.execute(
                SQL["answered_request"], (person.person, key, since)
            ).fetchone()
            if row is None:
                return None
            turn_id, digest, outcome = row
        else:
            turn_id, digest = found
        if digest != opening.request_hash:
            raise Conflict(
                f"the request key {key!r} was used for another request", field="Idempotency-Key"
            )
        return AnsweredRequest(turn_id=turn_id, reply=outcome)

    def note_opened(self, person: PersonHead, opening: TurnOpening) -> None:
        """Note the open turn of a request."""
        self._newest_start = max(self._newest_start, opening.started)
        if opening.request_key is not None:
            person.open_requests[opening.request_key] = (opening.turn_id, opening.request_hash)

    def note_answered(
        self, person: PersonHead, dialog: int, opening: TurnOpening, outcome: bytes
    ) -> None:
        """Add the outcome of a request of a closed turn."""
        person.open_requests.pop(opening.request_key or "", None)
        self._added += 1
        self._rows.requests += (person.person, opening.request_key, opening.request_hash,
                                opening.turn_id, dialog, opening.started, outcome)  # fmt: skip

    def delete_expired(self) -> None:
        """Delete requests answered more than a day before the start of the newest turn. Twice as
        many are examined as were added since the last time, so old requests run out.
        """
        execute, since = self._connection.execute, self._newest_start - DAY
        oldest = execute(SQL["oldest_request"]).fetchone()
        if oldest is not None:
            (at,) = oldest
            if at < since:
                execute(SQL["forget_requests"], (2 * self._added + 100, since))
        self._added = 0


class TurnWriter:
    """Opens and closes turns: gathers rows for the file and keeps the cached heads up to date."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        rows: PendingRows,
        heads: HeadCache,
        agenda: AgendaWriter,
        requests: RequestLog,
    ) -> None:
        self._connection = connection
        self._rows = rows
        self._heads = heads
        self._agenda = agenda
        self._requests = requests
        self.replies: dict[str, tuple[int, int]] = {}
        """The numbers of the latest replies and of their dialogs, by `utt_id`."""
        numbers = connection.execute(SQL["last_numbers"]).fetchone()
        person, dialog, dialog_name, self._utterance = (number or 0 for number in numbers)
        self._factory = HeadFactory(
            connection,
            rows,
            heads,
            last_person=person,
            last_dialog=dialog,
            last_dialog_name=dialog_name,
        )

    def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store the input and return the data for the turn's start."""
        name, person = opening.dialog_name, self._heads.person(opening.user)
        if person is not None and opening.request_key is not None:
            answered = self._requests.answer_to(person, opening)
            if answered is not None:
                return answered
        dialog = None if person is None else self._heads.dialog(person, name, opening.window)
        round_ = NO_ROUND if dialog is None else dialog.round
        if opening.round not in (None, round_):
            raise RoundChanged(round_)
        if person is None:
            person = self._factory.person(opening)
        if dialog is None:
            dialog = self._factory.dialog(person, opening, opening.window)
        numbering = self._factory.numbering(person, name)
        numbering.end += 1
        person.feed += 1
        self._requests.note_opened(person, opening)
        self._rows.open_turns += (
            person.person,
            opening.turn_id,
            dialog.dialog,
            person.feed,
            opening.started,
            opening.request_key,
            opening.request_hash,
            pack_opening(opening),
            numbering.dialog_name,
            numbering.end,
        )
        window, hypotheses = opening.window, opening.hypotheses
        feed, feed_id = person.feed, numbering.end
        return self._opened_turn(opening, person, dialog, window, hypotheses, feed, feed_id, 1)

    def close_turn(self, closing: TurnClosing) -> None:
        """Store all additions of the turn, and close it."""
        opened = closing.opened
        opening = opened.opening
        person = self._heads.person(opening.user)
        if not isinstance(opened, SqliteOpenedTurn):
            raise StoreError(f"turn {opening.turn_id} was opened by another kind of store")
        if person is None or person.person != opened.person:
            raise StoreError(f"turn {opening.turn_id} is not open: its person was deleted")
        dialog = person.dialogs.get(opening.dialog_name)
        if dialog is not None and dialog.dialog != opened.dialog:
            dialog = None
        bot_id = dialog.bot_id if dialog else self._bot_id(opened.dialog)
        human, bot = _newest(opened.human, closing.human), _newest(opened.bot, closing.bot)
        states = [
            _state(utterance, (bot, opened.bot) if utterance.by_bot else (human, opened.human))
            for utterance in closing.utterances
        ]
        # Nothing is changed above.
        if closing.human is not None:
            self._add_version(person.human_id, closing.human)
            person.human = human
        if closing.bot is not None:
            self._add_version(bot_id, closing.bot)
        position = opened.length
        if closing.previous_reply is not None and position:
            self._rows.bodies[opened.dialog, position - 1] = closing.previous_reply
            if dialog is not None:
                dialog.replace_last(closing.previous_reply)
        for spoken, state in zip(closing.utterances, states, strict=True):
            self._add_utterance(opened.dialog, dialog, position, spoken, state)
            position += 1
        if dialog is not None:
            dialog.bot = bot
            dialog.trim()
        self._add_feed(person, closing, opened)
        if closing.round is not None:
            self._set_round(opened.dialog, dialog, closing.round)
        if closing.struck or closing.entries:
            self._agenda.change(person.user, closing.struck, closing.entries)
        for record in closing.records:
            self._agenda.add_record(
                person.user, record.kind, record.key, record.body, opened.dialog
            )
        self._rows.closed += (opened.person, opening.turn_id)
        if dialog is None:
            # Without a head in the cache the next turn reads the file, so it must be written now.
            self._rows.write(self._connection)

    def deliver(self, delivery: Delivery) -> bool:
        """Store an unasked message and settle its entry; return False if the entry is gone."""
        if not self._agenda.settle(delivery.entry, delivery.again):
            return False
        self._agenda.change(delivery.user, delivery.struck, delivery.entries)
        if not delivery.messages and delivery.round is None:
            return True
        person = self._heads.person(delivery.user) or self._factory.person(delivery)
        name = delivery.dialog_name
        dialog = self._heads.dialog(person, name, 0)
        if dialog is None:
            dialog = self._factory.dialog(person, delivery, 0)
        numbering = self._factory.numbering(person, name)
        messages = delivery.messages
        self._add_messages(person, dialog.dialog, numbering, messages, delivery.closing)
        if delivery.round is not None:
            self._set_round(dialog.dialog, dialog, delivery.round)
        return True

    def unfinished_turns(self) -> list[UnfinishedTurn]:
        """Return the open turns, oldest first."""
        return [
            UnfinishedTurn(turn_id=turn_id, user=user, started=started, attempts=attempts)
            for turn_id, user, started, attempts in self._connection.execute(SQL["open_turns"])
        ]

    def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count another attempt and return the data for the turn's start."""
        row = self._connection.execute(SQL["open_turn"], (turn_id,)).fetchone()
        if row is None:
            raise NotFound(f"no turn {turn_id} is open", field="turn_id")
        number, dialog_number, feed, attempts, packed, feed_id = row
        opening = unpack_opening(packed)
        self._connection.execute(SQL["count_attempt"], (number, turn_id))
        person = self._heads.person(opening.user)
        assert person is not None
        dialog = self._heads.dialog(person, opening.dialog_name, window)
        if dialog is None or dialog.dialog != dialog_number:
            dialog = self._heads.dialog_by_number(person, dialog_number, window)
        attempt = attempts + 1
        return self._opened_turn(
            opening, person, dialog, window, hypotheses, feed, feed_id, attempt
        )

    def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End the active dialog of a name and return its id."""
        person = self._heads.person(user)
        dialog = self._heads.dialog(person, dialog_name, 0) if person else None
        if person is None or dialog is None:
            return None
        self._connection.execute(SQL["close_dialog"], (dialog.dialog,))
        person.dialogs.pop(dialog_name, None)
        return dialog.dialog_id

    def _opened_turn(
        self,
        opening: TurnOpening,
        person: PersonHead,
        dialog: DialogHead,
        window: int | None,
        hypotheses: int,
        feed: int,
        feed_id: int,
        attempt: int,
    ) -> SqliteOpenedTurn:
        """Return the data for a turn's start; `feed` and `feed_id` are its first row of the
        feed.
        """
        recent = dialog.recent if window is None else dialog.recent[-window:] if window else []
        shown = [parts for parts, _ in recent]
        if hypotheses:
            if self._rows.hypotheses:
                self._rows.write(self._connection)
            for i in [i for i, one in enumerate(shown) if not one.by_bot][-hypotheses:]:
                row = self._connection.execute(SQL["hypotheses_of"], (recent[i][1],)).fetchone()
                if row is not None:
                    (found,) = row
                    shown[i] = structs.replace(shown[i], hypotheses=found)
        return SqliteOpenedTurn(
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
            window=shown,
            length=dialog.length,
            feed=feed,
            feed_id=feed_id,
            attempt=attempt,
            round=dialog.round,
        )

    def _add_version(self, owner: str, new: NewProfileVersion) -> None:
        frame = None if new.number % KEY_FRAME_INTERVAL else new.state
        self._rows.versions += (owner, new.number, plain.encode(new.changes), frame)

    def _bot_id(self, dialog: int) -> str:
        return DialogRow(
            *self._connection.execute(SQL["dialog_by_number"], (dialog,)).fetchone()
        ).bot_id

    def _add_utterance(
        self,
        number: int,
        dialog: DialogHead | None,
        position: int,
        spoken: NewUtterance,
        state: bytes,
    ) -> None:
        self._utterance += 1
        if spoken.by_bot:
            if len(self.replies) >= MOST_REPLIES:
                self.replies.clear()
            self.replies[spoken.utt_id] = self._utterance, number
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

    def _add_feed(self, person: PersonHead, closing: TurnClosing, opened: SqliteOpenedTurn) -> None:
        """Add the feed's rows of a turn, and its outcome for a repeated request."""
        opening = opened.opening
        numbering = self._factory.numbering(person, opening.dialog_name)
        self._rows.feed += (opened.person, opened.feed, opened.dialog, opening.message,
                            numbering.dialog_name, opened.feed_id, None)  # fmt: skip
        messages = closing.messages or (None,)
        self._add_messages(person, opened.dialog, numbering, messages, closing.closing)
        if opening.request_key is not None:
            self._requests.note_answered(person, opened.dialog, opening, closing.outcome)

    def _add_messages(
        self,
        person: PersonHead,
        dialog: int,
        numbering: MessageNumbering,
        messages: Sequence[bytes | None],
        closing: bytes,
    ) -> None:
        """Add rows to the feed, the last with the closing; only a message gets a new id."""
        feed = self._rows.feed
        last = len(messages) - 1
        for position, message in enumerate(messages):
            person.feed += 1
            if message is not None:
                numbering.end += 1
            feed += (person.person, person.feed, dialog, message, numbering.dialog_name,
                     numbering.end, closing if position == last else None)  # fmt: skip

    def _set_round(self, number: int, dialog: DialogHead | None, round_: bytes) -> None:
        if dialog is not None and dialog.round == round_:
            return
        if dialog is not None:
            dialog.round = round_
        self._rows.rounds[number] = round_


def _newest(known: ProfileVersion, new: NewProfileVersion | None) -> ProfileVersion:
    return known if new is None else ProfileVersion(new.number, new.state)


def _state(spoken: NewUtterance, versions: tuple[ProfileVersion, ProfileVersion]) -> bytes:
    for version in versions:
        if version.number == spoken.user_version:
            return version.state
    raise StoreError(f"utterance {spoken.utt_id} shows an unknown profile version")
