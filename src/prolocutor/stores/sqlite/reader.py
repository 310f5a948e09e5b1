"""SqliteReader: reads beside the writer, in short statements.

An open statement prevents checkpoints of the write-ahead log, so a long read is many jobs, each
continuing after the last number of the job before.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import (
    ALL_DIALOGS,
    NO_ROUND,
    AgendaEntry,
    Amount,
    ConversationRow,
    DialogQuery,
    FeedRow,
    RatedReply,
    StoredDocument,
    rated_reply,
    unpack_opening,
)
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import StoreCorrupt, StoreError
from prolocutor.stores.sqlite import query_rows, searches
from prolocutor.stores.sqlite.connection import NEWEST, connect, file_version, translate_error
from prolocutor.stores.sqlite.queries import SQL
from prolocutor.stores.sqlite.query_rows import (
    Columns,
    DialogAndPersonRow,
    FeedAndOpeningRow,
    UtteranceRow,
)
from prolocutor.stores.sqlite.worker_thread import StoreJob
from prolocutor.stores.statements import make_struct

PAGE_ROWS: Final = 200
"""Utterances read by one job."""

_NEVER: Final = (1 << 63) - 1
"""Greater than every number of a feed."""

MANY_NAMES: Final = 1000
"""Conversations of a person from which on they are many."""


_UNREADABLE: Final = (msgspec.MsgspecError, LookupError, TypeError, ValueError)
"""Exceptions for files that SQLite can read but the store has not written."""

Ratings = dict[int | None, list[bytes]]
Utterance = HumanUtterance | BotUtterance


class SqliteReader:
    """Owns a connection for reading. Everything here is called in the reader's thread."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> None:
        """Open the file, which must be of the newest version."""
        try:
            connection = connect(self.path, read_only=True)
            version = file_version(connection, self.path)
        except (OSError, UnicodeDecodeError, sqlite3.Error) as error:
            raise translate_error(error, self.path) from error
        if version != NEWEST:
            connection.close()
            raise StoreError(f"{self.path}: is of an old version; let its owner open it once")
        self.connection = connection

    def run(self, jobs: list[StoreJob]) -> list[Any]:
        """Do the jobs in order."""
        return [self._done(job) for job in jobs]

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return rows of the feed, including rows of open turns."""
        return _feed_rows(
            self.connection.execute(SQL["feed_after"], (user, after, limit)).fetchall()
        )

    def feed_end(self, user: str) -> int:
        """Return the last number of the feed."""
        row = self.connection.execute(SQL["person_of"], (user,)).fetchone()
        if row is None:
            return 0
        _, _, feed_end = row
        return int(feed_end)

    def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last rows of a dialog name, or the first after the message `after`."""
        named_so = self.connection.execute(SQL["dialog_name"], (user, dialog_name)).fetchone()
        if named_so is None:
            return []
        if after is None:
            rows = self.connection.execute(SQL["feed_tail"], (*named_so, limit)).fetchall()
            return _feed_rows(rows[::-1])
        values = (*named_so, limit, after)
        return _feed_rows(self.connection.execute(SQL["feed_tail_after"], values).fetchall())

    def feed_before(self, user: str, before: int | None = None, limit: int = 100) -> list[FeedRow]:
        """Return rows of the feed, the latest first."""
        values = (user, before or _NEVER, limit)
        return _feed_rows(self.connection.execute(SQL["feed_before"], values).fetchall())

    def conversations(
        self, user: str, before: int | None = None, limit: int = 50
    ) -> list[ConversationRow]:
        """Return conversations, the latest first; the first words may be in an open turn.

        Few are found by their names, many by going back in the feed.
        """
        (names,) = self.connection.execute(SQL["count_names"], (user, MANY_NAMES)).fetchone()
        statement = (
            SQL["conversations_before"] if names < MANY_NAMES else SQL["conversations_of_many"]
        )
        rows = self.connection.execute(statement, (user, before or _NEVER, limit)).fetchall()
        return [
            ConversationRow(name, n, at, first or (opening and unpack_opening(opening).message))
            for name, n, at, first, opening in rows
        ]

    def dialogs_named(self, user: str, dialog_name: str) -> list[int]:
        """Return the numbers of all dialogs of a name."""
        rows = self.connection.execute(SQL["dialogs_named"], (user, dialog_name)).fetchall()
        return [number for (number,) in rows]

    def round(self, user: str, dialog_name: str) -> bytes:
        """Return the round of the active dialog of a name."""
        (found,) = self.connection.execute(SQL["round_of"], (user, dialog_name)).fetchone() or (
            NO_ROUND,
        )
        return bytes(found)

    def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries of the agenda with `due <= now`."""
        return _entries(self.connection.execute(SQL["due_entries"], (now, limit)).fetchall())

    def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""
        due: tuple[float | None] = self.connection.execute(SQL["next_due"], (after,)).fetchone()
        return due[0]

    def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries, all or those of a skill."""
        return _entries(self.connection.execute(SQL["entries_of"], (user, skill)).fetchall())

    def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key."""
        return dict(self.connection.execute(SQL["records_of"], (user, kind)).fetchall())

    def record(self, user: str, kind: str, key: str) -> bytes | None:
        """Return a document."""
        found = self.connection.execute(SQL["record_of"], (user, kind, key)).fetchone()
        return None if found is None else found[0]

    def amounts(self, kind: str, first: str, last: str) -> list[Amount]:
        """Return the sums of a kind in some periods."""
        rows = self.connection.execute(SQL["amounts_between"], (kind, first, last))
        return [Amount(*row) for row in rows]

    def records_since(self, kind: str, after: int = 0, limit: int = 10_000) -> list[StoredDocument]:
        """Return the latest documents of a kind with numbers above `after`."""
        rows = self.connection.execute(SQL["records_since"], (kind, after, limit))
        return [StoredDocument(*row) for row in rows]

    def record_count(self, kind: str) -> int:
        """Return how many documents of a kind there are."""
        number: int = self._value(SQL["number_of_kind"], kind)
        return number

    def ratings_since(self, after: int = 0, limit: int = 10_000) -> list[RatedReply]:
        """Return the latest ratings of replies with numbers above `after`."""
        rows = self.connection.execute(SQL["ratings_since"], (after, limit))
        return [rated_reply(*row) for row in rows]

    def rating_count(self) -> int:
        """Return how many ratings of replies there are."""
        number: int = self._value(SQL["rating_count"])
        return number

    def find(self, id_: str) -> int | None:
        """Return the number of a dialog by `dialog_id` or `_id`."""
        number: int | None = self._value(SQL["find_dialog"], id_)
        return number

    def head(self, number: int) -> Dialog | None:
        """Return a dialog without its utterances."""
        row = self.connection.execute(SQL["dialog_with_person"], (number,)).fetchone()
        if row is None:
            return None
        dialog = DialogAndPersonRow(*row)
        human = query_rows.latest(self.connection, dialog.human_id)
        bot = query_rows.latest(self.connection, dialog.bot_id)
        attributes = dialog.attributes
        if of_dialog := self.ratings(number).get(None):
            attributes = agent_state.attributes_with_ratings(attributes, of_dialog)
        return Dialog(
            dialog_id=dialog.dialog_id,
            id=dialog.id,
            human=agent_state.human_from_state(plain.decode(human.state)),
            bot=agent_state.bot_from_state(plain.decode(bot.state)),
            channel_type=dialog.channel_type,
            date_start=dialog.date_start,
            active=bool(dialog.active),
            utterances=[],
            attributes=plain.decode(attributes),
            rating=plain.decode(agent_state.last_rating(of_dialog or [])),
        )

    def turn(self, utt_id: str) -> list[Utterance]:
        """Return the human's text before a reply, and the reply."""
        row = self.connection.execute(SQL["find_utterance"], (utt_id,)).fetchone()
        if row is None:
            return []
        number, position = row
        dialog = DialogAndPersonRow(
            *self.connection.execute(SQL["dialog_with_person"], (number,)).fetchone()
        )
        first = max(position - 1, 0)
        return self.utterances(number, dialog.human_id, dialog.bot_id, first, 2)[0]

    def utterances(
        self, number: int, human_id: str, bot_id: str, position: int, limit: int = PAGE_ROWS
    ) -> tuple[list[Utterance], int]:
        """Return a page of utterances from this position on, and the position after it."""
        found = self.connection.execute(
            SQL["utterances_from"], (number, position, limit)
        ).fetchall()
        rows = [UtteranceRow(*columns) for columns in found]
        of_human = (row.user_version for row in rows if not row.by_bot)
        of_bot = (row.user_version for row in rows if row.by_bot)
        humans = query_rows.states(self.connection, human_id, of_human)
        bots = query_rows.states(self.connection, bot_id, of_bot)
        ratings = self.ratings(number)
        utterances: list[Utterance] = []
        for row in rows:
            if row.by_bot:
                state = agent_state.bot_utterance(row.body, bots[row.user_version])
            else:
                user = humans[row.user_version]
                state = agent_state.human_utterance(row.body, user, row.hypotheses or b"[]")
            if rated := ratings.get(row.utterance):
                state = agent_state.add_ratings(state, rated)
            utterances.append(agent_state.utterance_from_state(plain.decode(state)))
            position = row.position + 1
        return utterances, position

    def ratings(self, number: int) -> Ratings:
        """Return the ratings of a dialog (under None) and its utterances, by their number."""
        found: Ratings = {}
        for utterance, shown in self.connection.execute(
            SQL["ratings_from"], (number, 0)
        ).fetchall():
            found.setdefault(utterance, []).append(shown)
        return found

    def active_dialog_id(self, user: str, dialog_name: str = "main") -> DialogId | None:
        """Return the id of the active dialog of a name."""
        dialog_id: DialogId | None = self._value(SQL["active_dialog_id"], user, dialog_name)
        return dialog_id

    def find_owner(self, id_: str) -> str | None:
        """Return the user of a dialog or utterance."""
        user: str | None = self._value(SQL["owner_of"], id_)
        return user

    def dialog_ids(self, query: DialogQuery = ALL_DIALOGS) -> list[DialogId]:
        """Return the ids of the matching dialogs, oldest first."""
        found = self.connection.execute(*searches.statement(query))
        return [dialog_id for (dialog_id,) in found.fetchall()]

    def next_numbers(self, number: int, user: str | None, limit: int) -> list[int]:
        """Return the numbers of the next dialogs."""
        if user is None:
            rows = self.connection.execute(SQL["dialogs_after"], (number, limit)).fetchall()
        else:
            rows = self.connection.execute(
                SQL["dialogs_after_of"], (number, user, limit)
            ).fetchall()
        return [found for (found,) in rows]

    def last_dates(self, number: int, limit: int) -> list[tuple[int, str]]:
        """Return the numbers of the next dialogs, and when something was said there last."""
        return self.connection.execute(SQL["last_dates"], (number, limit)).fetchall()

    def _value(self, statement: str, *parameters: str | int) -> Any:
        """Return the only column of the only row, None if there is no row."""
        (value,) = self.connection.execute(statement, parameters).fetchone() or (None,)
        return value

    def _done(self, job: StoreJob) -> Any:
        function, args = job
        try:
            return function(*args)
        except _UNREADABLE as error:
            what = f"what is stored cannot be read ({error}); put back a copy of the file"
            corrupt = StoreCorrupt(f"{self.path}: {what}")
            corrupt.__cause__ = error
            return corrupt
        except Exception as error:
            return translate_error(error, self.path)


def _feed_rows(rows: list[Columns]) -> list[FeedRow]:
    return [_feed_row(FeedAndOpeningRow(*columns)) for columns in rows]


def _feed_row(row: FeedAndOpeningRow) -> FeedRow:
    """Make a row of the feed; while the turn is open, the message stands in its opening."""
    message = row.message if row.opening is None else unpack_opening(row.opening).message
    id_ = None if message is None else row.id
    return FeedRow(row.n, row.dialog_id, message, row.dialog_name, id_, row.closing)


def _entries(rows: list[Columns]) -> list[AgendaEntry]:
    return [make_struct(AgendaEntry, columns) for columns in rows]
