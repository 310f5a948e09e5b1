"""Heads: the little that a turn needs to know of a person and a dialog before it can begin.

The process owns the file, so what is remembered here is what the file says. It is bounded; what is
not here is read again at the same order of cost, whatever the length of the dialog.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from typing import Any, Final

from msgspec import structs

from prolocutor.contracts.store import ProfileVersion, UtteranceParts
from prolocutor.dialog import splicing
from prolocutor.stores.sqlite import profiles
from prolocutor.stores.sqlite.pending_rows import PendingRows
from prolocutor.stores.sqlite.queries import named

MAX_PEOPLE: Final = 1024
MAX_DIALOGS: Final = 4
"""The most dialogs remembered of one person."""
MAX_WINDOW: Final = 32
"""The most utterances remembered of one dialog; a longer window is read again in each turn."""
MAX_WINDOW_BYTES: Final = 65_536

_PERSON: Final = named("person_of")
_ACTIVE: Final = named("active_dialog")
_BY_NUMBER: Final = named("dialog_by_number")
_LAST: Final = named("last_utterances")
_RATINGS: Final = named("ratings_from")
_OPEN_REQUESTS: Final = named("open_requests")
_NUMBERING: Final = named("numbering")


class DialogHead:
    """A dialog: its bot, its length and its last utterances, ready to be spliced."""

    __slots__ = ("attributes", "bot", "bot_id", "date_start", "dialog", "dialog_id", "id", "keep",
                 "length", "name", "rating", "recent", "round", "skills")  # fmt: skip

    dialog: int
    name: str
    dialog_id: str
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
    keep: int
    """How many of them are wanted again."""
    skills: set[str]
    """Skills of which it is known that they spoke here."""

    def add(self, said: UtteranceParts, utterance: int) -> None:
        """Take note of one more utterance."""
        self.length += 1
        self.recent.append((said, utterance))

    def trim(self) -> None:
        """Forget the oldest of the last utterances where they are too many or too large."""
        recent = self.recent
        if len(recent) > self.keep + 4:
            del recent[: len(recent) - self.keep]
        size = 0
        for i in range(len(recent) - 1, -1, -1):
            size += len(recent[i][0].state)
            if size > MAX_WINDOW_BYTES:
                del recent[: i + 1]
                break


class MessageNumbering:
    """The name of some dialogs of a person, and the last id that a message got under it."""

    __slots__ = ("dialog_name", "end")

    def __init__(self, dialog_name: int, end: int) -> None:
        self.dialog_name = dialog_name
        self.end = end


class PersonHead:
    """A person: the profile, the last number of the feed, some active dialogs."""

    __slots__ = ("dialogs", "feed", "human", "human_id", "numberings", "open", "person", "user")

    person: int
    user: str
    human_id: str
    human: ProfileVersion
    feed: int
    dialogs: OrderedDict[str, DialogHead]
    numberings: OrderedDict[str, MessageNumbering]
    open: dict[str, tuple[str, bytes | None]]
    """Turn and hash of the requests whose turns are open, by request key."""


class HeadCache:
    """The heads that were used last, read from the file where they are not remembered."""

    def __init__(self, connection: sqlite3.Connection, rows: PendingRows) -> None:
        self._connection = connection
        self._rows = rows
        self._people: OrderedDict[str, PersonHead] = OrderedDict()

    def person(self, user: str) -> PersonHead | None:
        """Return the head of a person; None if unknown."""
        head = self._people.get(user)
        if head is not None:
            self._people.move_to_end(user)
            return head
        row = self._connection.execute(_PERSON, (user,)).fetchone()
        if row is None:
            return None
        head = PersonHead()
        head.person, head.human_id, head.feed = row
        head.user = user
        head.human = profiles.latest(self._connection, head.human_id)
        head.dialogs, head.numberings = OrderedDict(), OrderedDict()
        head.open = {
            key: (turn_id, hash_)
            for key, turn_id, hash_ in self._connection.execute(_OPEN_REQUESTS, (head.person,))
        }
        self._people[user] = head
        return head

    def add(self, head: PersonHead) -> None:
        """Remember a person who is new."""
        self._people[head.user] = head

    def dialog(self, person: PersonHead, name: str, window: int | None) -> DialogHead | None:
        """Return the head of the active dialog of that name with so many utterances, if any."""
        head = person.dialogs.get(name)
        if head is not None:
            if _reaches(head, window):
                return head
            self._rows.write(self._connection)
        row = self._connection.execute(_ACTIVE, (person.person, name)).fetchone()
        if row is None:
            return None
        head = self._read(person, row, window)
        self.add_dialog(person, head)
        return head

    def add_dialog(self, person: PersonHead, head: DialogHead) -> None:
        """Remember the active dialog of that name, rather than the oldest if there are many."""
        person.dialogs[head.name] = head
        if len(person.dialogs) > MAX_DIALOGS:
            self._rows.write(self._connection)
            person.dialogs.popitem(last=False)

    def numbering(self, person: PersonHead, name: str) -> MessageNumbering | None:
        """Return the numbering of messages under that dialog name, if it was ever used."""
        found = person.numberings.get(name)
        if found is not None:
            return found
        row = self._connection.execute(_NUMBERING, (person.person, name)).fetchone()
        if row is None:
            return None
        found = MessageNumbering(*row)
        self.add_numbering(person, name, found)
        return found

    def add_numbering(self, person: PersonHead, name: str, numbering: MessageNumbering) -> None:
        """Remember a numbering, rather than the oldest if there are many."""
        person.numberings[name] = numbering
        if len(person.numberings) > MAX_DIALOGS:
            self._rows.write(self._connection)
            person.numberings.popitem(last=False)

    def dialog_by_number(self, person: PersonHead, dialog: int, window: int | None) -> DialogHead:
        """Return the head of a dialog that may be closed."""
        row = self._connection.execute(_BY_NUMBER, (dialog,)).fetchone()
        return self._read(person, row, window)

    def __len__(self) -> int:
        return len(self._people)

    def forget(self, user: str) -> None:
        """Forget what is remembered of a person."""
        self._people.pop(user, None)

    def clear(self) -> None:
        """Forget everything."""
        self._people.clear()

    def trim(self) -> None:
        """Forget the people that were not used for the longest time."""
        while len(self._people) > MAX_PEOPLE:
            self._people.popitem(last=False)

    def _read(self, person: PersonHead, row: tuple[Any, ...], window: int | None) -> DialogHead:
        head = DialogHead()
        (head.dialog, head.name, head.dialog_id, head.id, head.bot_id, head.date_start,
         head.attributes, rated, head.round) = row  # fmt: skip
        head.bot = profiles.latest(self._connection, head.bot_id)
        head.rating = b"null"
        head.skills = set()
        head.keep = MAX_WINDOW if window is None else min(MAX_WINDOW, window)
        limit = -1 if window is None else max(1, window)
        rows = self._connection.execute(_LAST, (head.dialog, limit)).fetchall()[::-1]
        head.length = rows[-1][1] + 1 if rows else 0
        head.recent = self._said(person, head, rows)
        if rated:
            self._show_ratings(head)
        return head

    def _said(
        self, person: PersonHead, head: DialogHead, rows: list[tuple[Any, ...]]
    ) -> list[tuple[UtteranceParts, int]]:
        humans = self._states(person.human_id, person.human, [r[3] for r in rows if not r[2]])
        bots = self._states(head.bot_id, head.bot, [r[3] for r in rows if r[2]])
        return [
            (
                UtteranceParts(bool(by_bot), body, bots[version] if by_bot else humans[version]),
                utterance,
            )
            for utterance, _, by_bot, version, body in rows
        ]

    def _states(self, owner: str, newest: ProfileVersion, numbers: list[int]) -> dict[int, bytes]:
        earlier = [number for number in numbers if number != newest.number]
        found = profiles.states(self._connection, owner, earlier) if earlier else {}
        found[newest.number] = newest.state
        return found

    def _show_ratings(self, head: DialogHead) -> None:
        first = head.recent[0][1] if head.recent else 0
        ratings: dict[int | None, list[bytes]] = {}
        for utterance, shown in self._connection.execute(_RATINGS, (head.dialog, first)).fetchall():
            ratings.setdefault(utterance, []).append(shown)
        if of_dialog := ratings.get(None):
            head.attributes = splicing.attributes_with_ratings(head.attributes, of_dialog)
            head.rating = splicing.last_rating(of_dialog)
        head.recent = [
            (_rated(said, ratings[utterance]), utterance)
            if utterance in ratings
            else (said, utterance)
            for said, utterance in head.recent
        ]


def _rated(said: UtteranceParts, ratings: list[bytes]) -> UtteranceParts:
    return structs.replace(said, body=splicing.with_ratings(said.body, ratings))


def _reaches(head: DialogHead, window: int | None) -> bool:
    wanted = head.length if window is None else min(window, head.length)
    return len(head.recent) >= wanted
