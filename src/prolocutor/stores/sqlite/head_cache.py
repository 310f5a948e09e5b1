"""Heads: the small part of a person and a dialog for the start of a turn.

The process owns the file, so the cache agrees with the file. The cache is bounded. Missing heads
are read at a cost of the same order, independent of the dialog's length.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from typing import Final

from msgspec import structs

from prolocutor.contracts.store import (
    NO_ROUND,
    Delivery,
    ProfileVersion,
    TurnOpening,
    UtteranceParts,
)
from prolocutor.dialog import agent_state
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.dialog.profile_changes import translate_errors
from prolocutor.stores.sqlite import query_rows
from prolocutor.stores.sqlite.queries import SQL, PendingRows
from prolocutor.stores.sqlite.query_rows import Columns, DialogRow, UtteranceRow

MAX_PERSONS: Final = 1024
MAX_DIALOGS: Final = 4
"""The largest number of cached dialogs of one person."""
MAX_WINDOW: Final = 32
"""The largest number of cached utterances of one dialog; a longer window is read in each turn."""
MAX_WINDOW_BYTES: Final = 65_536


class DialogHead:
    """A dialog: its bot, its length and its last utterances, ready to be spliced."""

    __slots__ = ("attributes", "bot", "bot_id", "date_start", "dialog", "dialog_id", "id", "length",
                 "name", "rating", "recent", "round", "skills", "window")  # fmt: skip

    dialog: int
    name: str
    dialog_id: DialogId
    id: str
    bot_id: str
    date_start: str
    attributes: bytes
    bot: ProfileVersion
    length: int
    rating: bytes
    round: bytes
    recent: list[tuple[UtteranceParts, int]]
    """The last utterances with their numbers, oldest first."""
    window: int
    """The number of recent utterances that the next turn asks for."""
    skills: set[str]
    """Skills that are known to have spoken here."""

    def add(self, parts: UtteranceParts, utterance: int) -> None:
        """Add an utterance."""
        self.length += 1
        self.recent.append((parts, utterance))

    def replace_last(self, body: bytes) -> None:
        """Replace the body of the last utterance."""
        if self.recent:
            parts, utterance = self.recent[-1]
            self.recent[-1] = (structs.replace(parts, body=body), utterance)

    def trim(self) -> None:
        """Drop the oldest of the last utterances where they are too many or too large.

        A few more than the window may stay; not every turn then moves the list.
        """
        recent = self.recent
        if len(recent) > self.window + 4:
            del recent[: len(recent) - self.window]
        size = 0
        for i in range(len(recent) - 1, -1, -1):
            parts = recent[i][0]
            size += len(parts.body) + len(parts.user) + len(parts.hypotheses)
            if size > MAX_WINDOW_BYTES:
                del recent[: i + 1]
                break


class MessageNumbering:
    """The number of a dialog name of a person, and the last id of a message under it."""

    __slots__ = ("dialog_name", "end")

    def __init__(self, dialog_name: int, end: int) -> None:
        self.dialog_name = dialog_name
        self.end = end


class PersonHead:
    """A person: the profile, the last number of the feed, some active dialogs."""

    __slots__ = ("dialogs", "feed", "human", "human_id", "numberings", "open_requests", "person",
                 "user")  # fmt: skip

    def __init__(self, person: int, user: str, human_id: str, feed: int) -> None:
        self.person = person
        self.user = user
        self.human_id = human_id
        self.feed = feed
        self.human: ProfileVersion
        self.dialogs: dict[str, DialogHead] = {}
        """In the order in which they came; the oldest is dropped first."""
        self.numberings: dict[str, MessageNumbering] = {}
        self.open_requests: dict[str, tuple[TurnId, bytes | None]] = {}
        """Turn and hash of the requests whose turns are open, by request key."""


class HeadCache:
    """The latest used heads; other heads are read from the file.

    Pending rows are written before affected data is read from the file, and before a head ahead of
    the file is dropped.
    """

    def __init__(self, connection: sqlite3.Connection, rows: PendingRows) -> None:
        self._connection = connection
        self._rows = rows
        self._persons: OrderedDict[str, PersonHead] = OrderedDict()

    def person(self, user: str) -> PersonHead | None:
        """Return the head of a person; None if unknown."""
        head = self._persons.get(user)
        if head is not None:
            self._persons.move_to_end(user)
            return head
        row = self._connection.execute(SQL["person_of"], (user,)).fetchone()
        if row is None:
            return None
        person, human_id, feed = row
        head = PersonHead(person, user, human_id, feed)
        with translate_errors(user):
            head.human = query_rows.latest(self._connection, human_id)
        for key, turn_id, hash_ in self._connection.execute(SQL["open_requests"], (person,)):
            head.open_requests[key] = (turn_id, hash_)
        self._persons[user] = head
        return head

    def add(self, head: PersonHead) -> None:
        """Add a person who is new."""
        self._persons[head.user] = head

    def dialog(self, person: PersonHead, name: str, window: int | None) -> DialogHead | None:
        """Return the head of the active dialog of this name with so many utterances, if any."""
        head = person.dialogs.get(name)
        if head is not None:
            if _reaches(head, window):
                return head
            self._rows.write(self._connection)
        row = self._connection.execute(SQL["active_dialog"], (person.person, name)).fetchone()
        if row is None:
            return None
        head = self._read(person, row, window)
        self.add_dialog(person, head)
        return head

    def add_dialog(self, person: PersonHead, head: DialogHead) -> None:
        """Add the active dialog of a name, in place of the oldest if there are many."""
        person.dialogs[head.name] = head
        if len(person.dialogs) > MAX_DIALOGS:
            self._rows.write(self._connection)
            del person.dialogs[next(iter(person.dialogs))]

    def numbering(self, person: PersonHead, name: str) -> MessageNumbering | None:
        """Return the numbering of messages under a dialog name, if it was ever used."""
        found = person.numberings.get(name)
        if found is not None:
            return found
        row = self._connection.execute(SQL["numbering"], (person.person, name)).fetchone()
        if row is None:
            return None
        found = MessageNumbering(*row)
        self.add_numbering(person, name, found)
        return found

    def add_numbering(self, person: PersonHead, name: str, numbering: MessageNumbering) -> None:
        """Add a numbering, in place of the oldest if there are many."""
        person.numberings[name] = numbering
        if len(person.numberings) > MAX_DIALOGS:
            self._rows.write(self._connection)
            del person.numberings[next(iter(person.numberings))]

    def dialog_by_number(self, person: PersonHead, dialog: int, window: int | None) -> DialogHead:
        """Return the head of a dialog, possibly closed."""
        row = self._connection.execute(SQL["dialog_by_number"], (dialog,)).fetchone()
        return self._read(person, row, window)

    def __len__(self) -> int:
        return len(self._persons)

    def drop(self, user: str) -> None:
        """Drop the head of a person."""
        self._persons.pop(user, None)

    def clear(self) -> None:
        """Drop everything."""
        self._persons.clear()

    def trim(self) -> None:
        """Drop the persons unused for the longest time."""
        while len(self._persons) > MAX_PERSONS:
            self._persons.popitem(last=False)

    def _read(self, person: PersonHead, columns: Columns, window: int | None) -> DialogHead:
        with translate_errors(person.user):
            return self._read_rows(person, columns, window)

    def _read_rows(self, person: PersonHead, columns: Columns, window: int | None) -> DialogHead:
        row = DialogRow(*columns)
        head = DialogHead()
        head.dialog, head.name = row.dialog, row.name
        head.dialog_id, head.id, head.bot_id = row.dialog_id, row.id, row.bot_id
        head.date_start, head.attributes, head.round = row.date_start, row.attributes, row.round
        head.bot = query_rows.latest(self._connection, head.bot_id)
        head.rating = b"null"
        head.skills = set()
        head.window = MAX_WINDOW if window is None else min(MAX_WINDOW, window)
        limit = -1 if window is None else max(1, window)
        found: list[Columns] = self._connection.execute(
            SQL["last_utterances"], (head.dialog, limit)
        ).fetchall()
        utterances = [UtteranceRow(*columns) for columns in reversed(found)]
        head.length = utterances[-1].position + 1 if utterances else 0
        head.recent = self._parts(person, head, utterances)
        if row.rated:
            self._show_ratings(head)
        return head

    def _parts(
        self, person: PersonHead, head: DialogHead, rows: list[UtteranceRow]
    ) -> list[tuple[UtteranceParts, int]]:
        of_human = [row.user_version for row in rows if not row.by_bot]
        of_bot = [row.user_version for row in rows if row.by_bot]
        humans = self._states(person.human_id, person.human, of_human)
        bots = self._states(head.bot_id, head.bot, of_bot)
        parts = []
        for row in rows:
            user = (bots if row.by_bot else humans)[row.user_version]
            parts.append((UtteranceParts(bool(row.by_bot), row.body, user), row.utterance))
        return parts

    def _states(self, owner: str, newest: ProfileVersion, numbers: list[int]) -> dict[int, bytes]:
        earlier = [number for number in numbers if number != newest.number]
        found = query_rows.states(self._connection, owner, earlier) if earlier else {}
        found[newest.number] = newest.state
        return found

    def _show_ratings(self, head: DialogHead) -> None:
        first = head.recent[0][1] if head.recent else 0
        ratings: dict[int | None, list[bytes]] = {}
        for utterance, shown in self._connection.execute(
            SQL["ratings_from"], (head.dialog, first)
        ).fetchall():
            ratings.setdefault(utterance, []).append(shown)
        if of_dialog := ratings.get(None):
            head.attributes = agent_state.attributes_with_ratings(head.attributes, of_dialog)
            head.rating = agent_state.last_rating(of_dialog)
        head.recent = [
            (_set_ratings(parts, ratings[utterance]), utterance)
            if utterance in ratings
            else (parts, utterance)
            for parts, utterance in head.recent
        ]


def _set_ratings(parts: UtteranceParts, ratings: list[bytes]) -> UtteranceParts:
    return structs.replace(parts, body=agent_state.add_ratings(parts.body, ratings))


def _reaches(head: DialogHead, window: int | None) -> bool:
    needed = head.length if window is None else min(window, head.length)
    return len(head.recent) >= needed


class HeadFactory:
    """Makes new dialogs and persons: their rows and heads. Numbers are never reused."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        rows: PendingRows,
        heads: HeadCache,
        *,
        last_person: int,
        last_dialog: int,
        last_dialog_name: int,
    ) -> None:
        self._connection = connection
        self._rows = rows
        self._heads = heads
        self._person = last_person
        self._dialog = last_dialog
        self._dialog_name = last_dialog_name

    def person(self, source: TurnOpening | Delivery) -> PersonHead:
        """Make a person."""
        self._person += 1
        (feed,) = self._connection.execute(SQL["feed_floor"]).fetchone()
        head = PersonHead(self._person, source.user, source.new_dialog.human_id, feed)
        head.human = ProfileVersion(0, agent_state.new_human(head.human_id, head.user))
        self._rows.people += (head.person, head.user, head.human_id, head.feed)
        self._rows.versions += (head.human_id, 0, b"[]", head.human.state)
        self._heads.add(head)
        return head

    def dialog(
        self, person: PersonHead, source: TurnOpening | Delivery, window: int | None
    ) -> DialogHead:
        """Make a dialog, of which each turn asks for a window of this size."""
        self._dialog += 1
        new = source.new_dialog
        head = DialogHead()
        head.dialog, head.name = self._dialog, source.dialog_name
        head.dialog_id, head.id, head.bot_id = new.dialog_id, new.id, new.bot_id
        head.bot = ProfileVersion(0, agent_state.new_bot(head.bot_id))
        head.date_start = source.date_time
        head.attributes, head.rating = new.attributes, b"null"
        head.round = NO_ROUND
        head.length, head.recent, head.skills = 0, [], set()
        head.window = min(MAX_WINDOW, window or 0)
        self._rows.dialogs += (head.dialog, person.person, head.name, head.dialog_id, head.id,
                               head.bot_id, source.channel_type, head.date_start,
                               head.attributes)  # fmt: skip
        self._rows.versions += (head.bot_id, 0, b"[]", head.bot.state)
        self._heads.add_dialog(person, head)
        return head

    def numbering(self, person: PersonHead, name: str) -> MessageNumbering:
        """Return the numbering of messages of a dialog name; make it if it is missing."""
        found = person.numberings.get(name) or self._heads.numbering(person, name)
        if found is None:
            self._dialog_name += 1
            found = MessageNumbering(self._dialog_name, -1)
            self._rows.dialog_names += (self._dialog_name, person.person, name)
            self._heads.add_numbering(person, name, found)
        return found
