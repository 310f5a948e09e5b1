"""The second trip of turns: the arguments of `finish_turns`, and the cache after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import structs

from prolocutor.contracts.store import (
    MAX_AGENDA_ENTRIES,
    AgendaEntry,
    NewProfileVersion,
    ProfileVersion,
    TurnClosing,
    UtteranceParts,
)
from prolocutor.dialog import plain
from prolocutor.dialog.profile_changes import KEY_FRAME_INTERVAL
from prolocutor.errors import StoreAway, StoreError, TakenOver
from prolocutor.plugins.postgresql.database_line import DatabaseLine, Row
from prolocutor.plugins.postgresql.membership import Membership
from prolocutor.plugins.postgresql.openings import TRIP_TIMEOUT, PostgresqlOpenedTurn
from prolocutor.plugins.postgresql.remembered import Remembered, RememberedDialog
from prolocutor.plugins.postgresql.statements import name_digest, stored_text

FINISH: Final = (
    "SELECT * FROM finish_turns(" + ", ".join(f"${number}" for number in range(1, 41)) + ")"
)


FINISH_WITH_RECORDS: Final = f"""
WITH finished AS MATERIALIZED (
    SELECT * FROM {FINISH.removeprefix("SELECT * FROM ")} WITH ORDINALITY
        AS f(status, feed, id, version, turn)
), kept AS (
    INSERT INTO records ("user", place, kind, key, body, person, dialog)
    SELECT x."user", x.place, x.kind, x.key, x.body, x.person, x.dialog
    FROM unnest($41::int[], $42::text[], $43::bytea[], $44::text[], $45::text[], $46::bytea[],
        $47::bigint[], $48::bigint[]) x(turn, "user", place, kind, key, body, person, dialog)
    JOIN finished USING (turn) WHERE finished.status = 'stored'
    ON CONFLICT ("user", place) DO UPDATE SET body = excluded.body
)
SELECT status, feed, id, version FROM finished ORDER BY turn
"""
"""`finish_turns`, and the records of those turns that were stored."""


class FinishCall:
    """The arguments of a call of `finish_turns`, an array for each column."""

    __slots__ = ("_entries", "_messages", "_records", "_struck", "_turns", "_utterances")

    def __init__(self) -> None:
        self._turns: tuple[list[Any], ...] = tuple([] for _ in range(17))
        self._utterances: tuple[list[Any], ...] = tuple([] for _ in range(8))
        self._messages: tuple[list[Any], list[Any]] = ([], [])
        self._struck: tuple[list[Any], list[Any]] = ([], [])
        self._entries: tuple[list[Any], ...] = tuple([] for _ in range(9))
        self._records: list[tuple[Any, ...]] = []

    def add(
        self,
        closing: TurnClosing,
        opened: PostgresqlOpenedTurn,
        skills: set[str] | None,
        known_round: bytes | None,
    ) -> None:
        """Add a closing; `skills` are the earlier speakers of its dialog, `known_round` is its
        round.
        """
        opening = opened.opening
        round_ = closing.round if closing.round != known_round else None
        outcome = closing.outcome if opening.request_key is not None else None
        for values, value in zip(
            self._turns,
            (
                stored_text(opening.user),
                opened.person,
                opening.turn_id,
                opened.attempt,
                opened.replica,
                opened.length,
                *_version(closing.human),
                *_version(closing.bot),
                opening.message,
                closing.closing,
                round_,
                closing.previous_reply,
                outcome,
            ),
            strict=True,
        ):
            values.append(value)
        self._add_utterances(closing, opened, skills)
        messages = closing.messages or (None,)
        self._messages[0].append(len(messages))
        self._messages[1].extend(messages)
        self._struck[0].append(len(closing.struck))
        self._struck[1].extend(name_digest(skill, key) for skill, key in closing.struck)
        counts, *columns = self._entries
        counts.append(len(closing.entries))
        for entry in closing.entries:
            for values, value in zip(columns, entry_columns(entry), strict=True):
                values.append(value)

        turn, user = len(counts), stored_text(opening.user)
        self._records += [
            (turn, user, name_digest(record.kind, record.key), stored_text(record.kind),
             stored_text(record.key), record.body, opened.person, opened.dialog)
            for record in closing.records
        ]  # fmt: skip

    def statement(self, number: int | None) -> tuple[Any, ...]:
        """Return the statement and its parameters for a replica."""
        arrays = *self._turns, *self._utterances, *self._messages, *self._struck, *self._entries
        values = number, *arrays, MAX_AGENDA_ENTRIES
        if not self._records:
            return FINISH, *values
        return FINISH_WITH_RECORDS, *values, *map(list, zip(*self._records, strict=True))

    def _add_utterances(
        self, closing: TurnClosing, opened: PostgresqlOpenedTurn, skills: set[str] | None
    ) -> None:
        counts, ids, by_bot, versions, dates, bodies, lists, spoke = self._utterances
        counts.append(len(closing.utterances))
        for spoken in closing.utterances:
            skill = spoken.active_skill
            if skill is not None and (not skill or (skills is not None and skill in skills)):
                skill = None
            ids.append(spoken.utt_id)
            by_bot.append(spoken.by_bot)
            versions.append(spoken.user_version)
            dates.append(spoken.date_time)
            bodies.append(spoken.body)
            lists.append(spoken.hypotheses)
            spoke.append(skill and stored_text(skill))


def _version(new: NewProfileVersion | None) -> tuple[Any, Any, Any]:
    """Return the number and the changes of a version, and the state of a key frame."""
    if new is None:
        return None, None, None
    frame = None if new.number % KEY_FRAME_INTERVAL else new.state
    return new.number, plain.encode(new.changes), frame


def entry_columns(entry: AgendaEntry) -> tuple[Any, ...]:
    """Return the columns of an agenda entry, in the order of the parameters."""
    return (
        stored_text(entry.user),
        name_digest(entry.skill, entry.key),
        stored_text(entry.skill),
        stored_text(entry.key),
        stored_text(entry.dialog_name),
        entry.due,
        entry.body,
        entry.dropped,
    )


def entry_arrays(entries: Iterable[AgendaEntry]) -> list[list[Any]]:
    """Return an array for each column of some agenda entries."""
    columns: list[list[Any]] = [[] for _ in range(8)]
    for entry in entries:
        for values, value in zip(columns, entry_columns(entry), strict=True):
            values.append(value)
    return columns


class Closings:
    """Closes turns in groups; a `GroupCall` of a lane."""

    def __init__(self, line: DatabaseLine, membership: Membership, remembered: Remembered) -> None:
        self._line = line
        self._membership = membership
        self._remembered = remembered
        self._unanswered: set[tuple[str, int]] = set()
        """Turn and attempt of closings of which it is not known whether they were stored."""

    async def __call__(self, closings: Sequence[TurnClosing], repeated: bool) -> list[Any]:
        """Close the turns in the order of their users, so groups cannot deadlock."""
        order = sorted(range(len(closings)), key=lambda place: closings[place].opened.opening.user)
        outcomes: list[Any] = [None] * len(closings)
        call, sent = FinishCall(), []
        for place in order:
            closing = closings[place]
            opened = closing.opened
            if not isinstance(opened, PostgresqlOpenedTurn):
                what = f"turn {opened.opening.turn_id} was opened by another kind of store"
                outcomes[place] = StoreError(what)
                continue
            if not _shows_known_versions(closing):
                what = f"turn {opened.opening.turn_id}: an utterance shows an unknown version"
                outcomes[place] = StoreError(f"{what} of a profile")
                continue
            dialog = self._dialog(opened)
            skills = dialog.skills if dialog is not None else None
            call.add(closing, opened, skills, dialog.round if dialog is not None else None)
            sent.append((place, closing, opened))
        if sent:
            number = self._membership.number
            try:
                rows = await self._line.fetch(*call.statement(number), within=TRIP_TIMEOUT)
            except StoreAway:
                self._unanswered.update((one.opening.turn_id, one.attempt) for _, _, one in sent)
                raise
            for (place, closing, opened), row in zip(sent, rows, strict=True):
                outcomes[place] = self._cache_changes(closing, opened, row)
        return outcomes

    def _dialog(self, opened: PostgresqlOpenedTurn) -> RememberedDialog | None:
        """Return the cached dialog of the turn."""
        person = self._remembered.person(opened.opening.user)
        if person is None or person.person != opened.person:
            return None
        dialog = person.dialogs.get(opened.opening.dialog_name)
        return dialog if dialog is not None and dialog.dialog == opened.dialog else None

    def _cache_changes(
        self, closing: TurnClosing, opened: PostgresqlOpenedTurn, row: Row
    ) -> StoreError | None:
        """Cache the changes of the turn; return the error, None if it is stored."""
        user, status = opened.opening.user, row["status"]
        unanswered = (opened.opening.turn_id, opened.attempt) in self._unanswered
        self._unanswered.discard((opened.opening.turn_id, opened.attempt))
        if status == "taken" or (status == "before" and not unanswered):
            self._remembered.drop(user)
            turn = opened.opening.turn_id
            return TakenOver(f"turn {turn} is not open for this run: taken over, closed or deleted")
        person, dialog = self._remembered.person(user), self._dialog(opened)
        if (
            status != "stored"
            or person is None
            or dialog is None
            or person.version + 1 != row["version"]
            or dialog.length != opened.length
        ):
            self._remembered.drop(user)
            return None
        person.version = row["version"]
        human, bot = _newest(opened.human, closing.human), _newest(opened.bot, closing.bot)
        person.human, dialog.bot, dialog.said = human, bot, row["id"]
        if closing.round is not None:
            dialog.round = closing.round
        if closing.previous_reply is not None and dialog.recent:
            last = dialog.recent[-1]
            dialog.recent[-1] = structs.replace(last, body=closing.previous_reply)
        for spoken in closing.utterances:
            new, old = (bot, opened.bot) if spoken.by_bot else (human, opened.human)
            state = (new if new.number == spoken.user_version else old).state
            list_ = spoken.hypotheses if dialog.with_hypotheses else None
            parts = UtteranceParts(spoken.by_bot, spoken.body, state, list_ or b"[]")
            dialog.recent.append(parts)
            if spoken.active_skill:
                dialog.skills.add(spoken.active_skill)
        dialog.length += len(closing.utterances)
        dialog.trim()
        return None


def _shows_known_versions(closing: TurnClosing) -> bool:
    """Return whether each utterance shows the profile before the turn or after it."""
    opened = closing.opened
    for spoken in closing.utterances:
        if spoken.by_bot:
            old, new = opened.bot, closing.bot
        else:
            old, new = opened.human, closing.human
        if spoken.user_version != old.number and (new is None or spoken.user_version != new.number):
            return False
    return True


def _newest(known: ProfileVersion, new: NewProfileVersion | None) -> ProfileVersion:
    return ProfileVersion(new.number, new.state) if new is not None else known
