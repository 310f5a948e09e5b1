"""PostgresqlTransfer: reads persons from a PostgreSQL database and writes persons into it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, Final

import msgspec
from msgspec import structs

from prolocutor.contracts.store import AgendaEntry, Amount
from prolocutor.contracts.store_options import (
    StoredDialog,
    StoredFacts,
    StoredFeedRow,
    StoredOpenTurn,
    StoredPerson,
    StoredRating,
    StoredRecord,
    StoredRequest,
    StoredTurn,
    StoredUtterance,
    StoredVersion,
    UnrecordedTurns,
)
from prolocutor.contracts.turn_record_store import SPAN_SECONDS, TurnHour
from prolocutor.errors import PersonBusy, StoreError, StoreLocked
from prolocutor.plugins.postgresql import migrations, store_url
from prolocutor.plugins.postgresql.closings import entry_columns
from prolocutor.plugins.postgresql.database_line import DatabaseLine, Row, first_column
from prolocutor.plugins.postgresql.database_lines import LineSession
from prolocutor.plugins.postgresql.statements import (
    SQL,
    name_digest,
    shown_columns,
    shown_text,
    stored_text,
)
from prolocutor.plugins.postgresql.turn_records import INDEXED_CHARACTERS, agent_rows, read_spans
from prolocutor.plugins.postgresql.wake_ups import notifications, notify_channel
from prolocutor.stores.agent_figures import subtract_spans
from prolocutor.stores.statements import make_struct
from prolocutor.stores.turn_records import (
    COUNTS,
    split_search_words,
    spoken_body,
    turn_time,
    unpack,
)

STATEMENT_TIMEOUT: Final = 120.0
"""Seconds for a statement of a transfer."""

ANY_NUMBER: Final = 2_147_483_647
FENCED_WITHIN: Final = 60.0
"""Seconds in which the turns of a person have to end who is to go elsewhere."""
LOOK_INTERVAL: Final = 0.02
"""Seconds between two looks at a turn that still runs."""

MOVER_REPLICA: Final = 0
"""The replica that never dies, which holds who goes elsewhere."""
END_OF_TIME: Final = 2**52
"""A time after all others."""


class PostgresqlTransfer:
    """A connection to a database without replicas."""

    def __init__(self, url: str) -> None:
        self._url = store_url.parse(url)
        self._session = session = LineSession("full", shown=self._url.shown, statement_ms=100_000)
        self._line = DatabaseLine(self._url, "transfer", prepare=session)
        self._replica: int | None = None
        self._alone = True

    async def migrate(self) -> list[str]:
        """Migrate the database, beside its replicas unless that would break them."""
        await self._line.open()
        try:
            version = await migrations.read_version(self._line, self._url.shown)
            if version and migrations.breaks(version):
                return await self._open_database(alone=True)
            await migrations.migrate(self._line, self._url)
            return await self._open_database(alone=False)
        finally:
            await self.aclose()

    async def open(self, *, alone: bool = True) -> list[str]:
        """Connect and migrate the database, or open it read-only beside its replicas."""
        await self._line.open()
        try:
            return await self._open_database(alone)
        except BaseException:
            await self.aclose()
            raise

    async def _open_database(self, alone: bool) -> list[str]:
        shown, self._alone = self._url.shown, alone
        version = await migrations.read_version(self._line, shown)
        living = first_column(await self._rows("living_replicas"))[0] if version else 0
        if living and alone:
            raise StoreLocked(f"{shown}: {living} replicas use it; stop them first")
        if alone:
            await migrations.migrate(self._line, self._url)
            version = migrations.NEWEST
        if version < migrations.NEWEST:
            what = f"{shown}: is of version {version}, not {migrations.NEWEST}"
            raise StoreError(f"{what}; prolocutor store migrate brings it up to date")
        said = [f"version {version}", f"living replicas: {living}"]
        if not self._session.standbys:
            said.append(
                "warning: synchronous_standby_names is empty: what is confirmed is on one server "
                "only; a standby that is promoted loses words"
            )
        return said

    async def aclose(self) -> None:
        """Close the connection."""
        await self._line.aclose()

    async def users(self) -> list[str]:
        """Yield all users with stored data."""
        return [shown_text(user) for user in first_column(await self._rows("users"))]

    async def feed_floor(self) -> int:
        """Return the number after which the feed of a new person starts."""
        return int(first_column(await self._rows("feed_floor"))[0])

    async def raise_feed_floor(self, floor: int) -> None:
        """Raise this number to `floor`."""
        await self._rows("raise_feed_floor", floor)

    async def unrecorded_turns(self) -> UnrecordedTurns:
        """Return the figures of turns without records, and all amounts."""
        sums = await self._rows("agent_sums", 0, END_OF_TIME, None, float(SPAN_SECONDS))
        agents = read_spans(await self._agent_turns(), sums)
        amounts = [Amount(*row) for row in await self._tuples("all_amounts")]
        return UnrecordedTurns(await self._hours(), agents, amounts)

    async def put_unrecorded(self, counted: UnrecordedTurns) -> None:
        """Replace the figures of turns without records, and all amounts."""
        now = {hour.at: hour for hour in await self._hours()}
        wanted = {hour.at: hour for hour in counted.hours}
        empty = TurnHour(at=0)
        changes = [
            (at, *(getattr(wanted.get(at, empty), name) - getattr(now.get(at, empty), name)
                   for name in COUNTS))
            for at in sorted(now.keys() | wanted.keys())
        ]  # fmt: skip
        own = {(span.at, span.agent): span for span in read_spans(await self._agent_turns(), [])}
        sums = [
            (stored_text(span.agent), span.at, msgspec.json.encode(span))
            for span in subtract_spans(counted.agents, own)
        ]
        async with self._transaction():
            await self._rows("add_hours", *_columns(changes, 7))
            await self._rows("clear_agent_sums")
            await self._rows("put_agent_sums", *_columns(sums, 3))
            await self._rows("delete_all_amounts")
            spent = [
                (amount.kind, stored_text(amount.user), stored_text(amount.name), amount.period,
                 amount.amount, amount.number, None)
                for amount in counted.amounts
            ]  # fmt: skip
            await self._rows("add_amounts", *_columns(spent, 7))

    async def _hours(self) -> list[TurnHour]:
        return [make_struct(TurnHour, row) for row in await self._rows("unrecorded_hours")]

    async def _agent_turns(self) -> list[Row]:
        """Return the figures of agents in turns with deleted records."""
        return await self._rows(
            "agent_figures", 0.0, float(END_OF_TIME), None, float(SPAN_SECONDS), False
        )

    async def taken_out(self, user: str) -> StoredPerson:
        """Return all data of a user, in one snapshot."""
        await self._line.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            return await self._taken_out(user)
        finally:
            if self._line.is_up:
                await self._line.execute("COMMIT")

    async def _taken_out(self, user: str) -> StoredPerson:
        rows, stored = self._tuples, stored_text(user)
        agenda = [
            make_struct(AgendaEntry, (user, *row)) for row in await rows("copied_agenda", stored)
        ]
        records = [StoredRecord(*row) for row in await rows("copied_records", stored)]
        found = await rows("copied_person", stored)
        if not found:
            return StoredPerson(user=user, agenda=agenda, records=records)
        person, human_id, feed_end = found[0]
        turns = await rows("copied_open_turns", person)
        return StoredPerson(
            user=user,
            human_id=human_id,
            feed_end=feed_end,
            human=[StoredVersion(*row) for row in await rows("copied_versions", person, 0)],
            said=dict(await rows("copied_names", person)),
            dialogs=[
                await self._dialog(person, row) for row in await rows("copied_dialogs", person)
            ],
            feed=[StoredFeedRow(*row) for row in await rows("copied_feed", person)],
            requests=[StoredRequest(*row) for row in await rows("copied_requests", person)],
            open_turns=[make_struct(StoredOpenTurn, row) for row in turns],
            agenda=agenda,
            records=records,
        )

    async def put_person(self, person: StoredPerson) -> None:
        """Replace all data of a user, in one transaction."""
        user = stored_text(person.user)
        async with self._transaction():
            await self._rows("moves_itself", user)
            await self._rows("stop_moving", user, "moved")
            if first_column(await self._rows("forget_user", user)) == ["busy"]:
                raise PersonBusy(f"a turn of {person.user!r} is open in {self._url.shown}")
            await self._write_person(person)
            await self._put_records(person)

    async def fence(self, user: str) -> None:
        """Hold a person by a replica that never dies; wait until their open turns are stored."""
        await self._rows("make_mover")
        until = monotonic() + FENCED_WITHIN
        while not first_column(await self._rows("hold_moving", stored_text(user)))[0]:
            if monotonic() > until:
                await self._rows("withdraw_ticket", stored_text(user), "moving")
                raise PersonBusy(f"a turn of {user!r} does not end in {self._url.shown}")
            await asyncio.sleep(LOOK_INTERVAL)
        (number,) = first_column(await self._rows("writes_before"))
        while not first_column(await self._rows("all_written", number))[0]:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_INTERVAL)

    async def unfence(self, user: str) -> None:
        """Release a fenced person."""
        await self._rows("stop_moving", stored_text(user), "moving")

    async def give_up(self, user: str) -> None:
        """Delete all data of a fenced person, and refuse the person from now on.

        Replicas get a hint to close the person's sockets.
        """
        async with self._transaction():
            await self._rows("moves_itself", stored_text(user))
            await self._rows("give_up_person", stored_text(user))
            await self._rows("mark_moved", stored_text(user))
            hints = [*notifications(MOVER_REPLICA, [user])]
            await self._rows("notify", notify_channel(self._url.schema), hints)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        await self._line.execute("BEGIN")
        try:
            yield
            await self._line.execute("COMMIT")
        except BaseException:
            if self._line.is_up:
                await self._line.execute("ROLLBACK")
            raise

    async def _dialog(self, person: int, row: Sequence[Any]) -> StoredDialog:
        rows, number = self._tuples, row[0]
        skills = [skill for (skill,) in await rows("copied_skills", person, number)]
        versions = [StoredVersion(*one) for one in await rows("copied_versions", person, number)]
        utterances = [
            StoredUtterance(*one) for one in await rows("copied_utterances", person, number)
        ]
        ratings = [StoredRating(*one) for one in await rows("copied_ratings", person, number)]
        turns = [StoredTurn(*one) for one in await rows("copied_turns", person, number)]
        found = await rows("copied_facts", person, number)
        facts = StoredFacts(*found[0]) if found else None
        return make_struct(
            StoredDialog, (*row, skills, versions, utterances, ratings, turns, facts)
        )

    async def _put_records(self, person: StoredPerson) -> None:
        user = stored_text(person.user)
        for record in person.records:
            names = (
                name_digest(record.kind, record.key),
                stored_text(record.kind),
                stored_text(record.key),
            )
            await self._rows("put_record", user, *names, record.body, record.about)

    async def _write_person(self, person: StoredPerson) -> None:
        user = stored_text(person.user)
        for entry in person.agenda:
            await self._rows("put_entry", *entry_columns(entry), ANY_NUMBER)
        if person.human_id is None:
            return
        rows = await self._rows("copy_person", user, person.human_id, person.feed_end)
        number: int = rows[0][0]
        await self._versions(number, 0, person.human)
        names_said = [stored_text(name) for name in person.said], list(person.said.values())
        await self._rows("copy_names", number, *names_said)
        for dialog in person.dialogs:
            await self._put_dialog(number, dialog)
        feed = [
            (row.n, row.dialog_id, stored_text(row.dialog_name), row.id, row.message, row.closing)
            for row in person.feed
        ]
        await self._rows("copy_feed", number, *_columns(feed, 6))
        asked = [
            (
                stored_text(request.key),
                request.hash,
                request.turn_id,
                request.dialog_id,
                request.at,
                request.outcome,
            )
            for request in person.requests
        ]
        await self._rows("copy_requests", number, *_columns(asked, 6))
        for turn in person.open_turns:
            key = turn.request_key
            await self._rows(
                "copy_open_turn", number, turn.turn_id, turn.attempts, await self._dead_replica(),
                turn.dialog_id, stored_text(turn.dialog_name), turn.n, turn.id, turn.started,
                key if key is None else stored_text(key), turn.request_hash, turn.opening,
            )  # fmt: skip

    async def _put_dialog(self, person: int, stored: StoredDialog) -> None:
        # beside replicas numbers are theirs to give: to set their sequence could turn it back
        free = self._alone and first_column(await self._rows("number_is_free", stored.number))[0]
        rows = await self._rows(
            "copy_dialog", stored.number if free else None, person, stored_text(stored.name),
            stored.dialog_id, stored.id, stored.bot_id, stored_text(stored.channel_type),
            stored.date_start, stored.active, bool(stored.ratings), stored.attributes, stored.round,
        )  # fmt: skip
        if free:
            await self._rows("numbers_go_on")
        dialog: int = rows[0][0]
        await self._versions(person, dialog, stored.bot)
        said = [
            (u.position, u.utt_id, u.by_bot, u.user_version, u.date_time, u.body, u.hypotheses)
            for u in stored.utterances
        ]
        await self._rows("copy_utterances", person, dialog, *_columns(said, 7))
        skills = [stored_text(skill) for skill in stored.skills]
        await self._rows("copy_skills", person, dialog, skills)
        rated = [(rating.position, rating.value, rating.shown) for rating in stored.ratings]
        await self._rows("copy_ratings", person, dialog, *_columns(rated, 3))
        if stored.facts is None:
            await self._rows("copy_facts", person, dialog)
        else:
            facts = structs.replace(stored.facts, channel=stored_text(stored.facts.channel))
            await self._rows("put_facts", person, dialog, *structs.astuple(facts))
        await self._put_turns(person, dialog, stored)
        await self._rows("copy_words", person, dialog, *_columns(_words(stored.utterances), 3))

    async def _put_turns(self, person: int, dialog: int, stored: StoredDialog) -> None:
        turns = [structs.astuple(turn) for turn in stored.turns]
        await self._rows("copy_turns", person, dialog, *_columns(turns, 6))
        await self._rows("count_copied", *_columns([(t.at, t.flags) for t in stored.turns], 2))
        agents = [
            (turn.position, turn.at, *columns)
            for turn in stored.turns
            for record in [unpack(turn.record, user="", dialog_id="", utt_id="")]
            if record is not None
            for _, *columns in agent_rows(record)
        ]
        await self._rows("copy_agent_turns", person, dialog, *_columns(agents, 10))

    async def _versions(self, person: int, owner: int, versions: list[StoredVersion]) -> None:
        rows = [(version.number, version.changes, version.state) for version in versions]
        await self._rows("copy_versions", person, owner, *_columns(rows, 3))

    async def _dead_replica(self) -> int:
        """Return the number of a dead replica, whose cut-off turns the next replica takes over."""
        if self._replica is None:
            rows = await self._rows("join_replicas", "", 0.0)
            self._replica = int(rows[0][0])
            await self._rows("leave", self._replica)
        return self._replica

    async def _tuples(self, name: str, *values: Any) -> list[list[Any]]:
        return [shown_columns(row) for row in await self._rows(name, *values)]

    async def _rows(self, name: str, *values: Any) -> list[Row]:
        return await self._line.fetch(SQL[name], *values, within=STATEMENT_TIMEOUT)


def _words(utterances: Sequence[StoredUtterance]) -> list[tuple[int, float, str]]:
    """Return the words of each turn, by the position and the time of its reply."""
    found, said = [], ""
    for utterance in utterances:
        text = spoken_body(utterance.body).text
        if utterance.by_bot:
            words = " ".join(split_search_words(f"{said} {text}"[:INDEXED_CHARACTERS]))
            found.append((utterance.position, turn_time(utterance.date_time), words))
        said = "" if utterance.by_bot else text
    return found


def _columns(rows: list[tuple[Any, ...]], number: int) -> list[list[Any]]:
    return [[row[place] for row in rows] for place in range(number)]
