"""The statements for finding dialogs: each has only the conditions of its query."""

from __future__ import annotations

import sqlite3
from functools import cached_property
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import DialogQuery
from prolocutor.contracts.turn_record_store import ConversationQuery, DialogPlace
from prolocutor.stores.sqlite.queries import SQL
from prolocutor.stores.statements import FLAG_BITS, QueryConditions
from prolocutor.stores.turn_records import search_words

_OF_DIALOGS: Final = {
    "user": "person = (SELECT person FROM people WHERE user = {0})",
    "user_prefix": "person IN (SELECT person FROM people"
    " WHERE user >= {0} AND user < {0} || char(1114111))",
    "skill": "dialog IN (SELECT dialog FROM spoke WHERE skill = {0})",
    "rating": "dialog IN (SELECT dialog FROM ratings WHERE value = {0})",
    "since": "date_start >= {0}",
    "until": "date_start < {0}",
    "active": "active = {0}",
    "after": "dialog > coalesce((SELECT dialog FROM dialogs WHERE dialog_id <= {0}"
    " ORDER BY dialog_id DESC LIMIT 1), 0)",
}
"""The dialog `after` may have been deleted: then the next older dialog takes its place."""

_OF_CONVERSATIONS: Final = {
    "agent": "EXISTS (SELECT 1 FROM spoke WHERE spoke.skill = {0} AND spoke.dialog = f.dialog)",
    "user": "f.dialog IN (SELECT dialog FROM dialogs"
    " WHERE person = (SELECT person FROM people WHERE user = {0}))",
    "channel": "f.channel = {0}",
    "since": "f.at >= {0}",
    "until": "f.began < {0}",
}
_BY_SPEAKER: Final = {**_OF_CONVERSATIONS, "agent": "spoke.skill = {0}"}
"""Columns and conditions of a search for the dialogs in which a skill spoke."""

_IN_TIME: Final = (
    "EXISTS (SELECT 1 FROM utterances AS u LEFT JOIN turns AS t ON t.turn = u.utterance"
    " WHERE u.dialog = f.dialog AND u.by_bot"
    " AND coalesce(t.at, (julianday(u.date_time) - 2440587.5) * 86400.0) >= {0}"
    " AND coalesce(t.at, (julianday(u.date_time) - 2440587.5) * 86400.0) < {1})"
)

_RARE_DIALOGS: Final = 2000
"""Dialogs in which an agent spoke up to which it is quicker to begin with these."""
_HITS_COUNTED: Final = 20_000
"""Turns with the words looked for that counts look at."""
_COMMON_TURNS: Final = 400
"""Turns with a word from which on beginnings are not looked for."""


def statement(query: DialogQuery) -> tuple[str, list[Any]]:
    """Return the statement for the ids of dialogs, and its values."""
    conditions = QueryConditions(query, _OF_DIALOGS, "?")
    where = conditions.where()
    limit, offset = conditions.value(query.limit), conditions.value(query.offset)
    order = "dialog DESC" if query.newest_first else "dialog"
    return (
        f"SELECT dialog_id FROM dialogs{where} ORDER BY {order} LIMIT {limit} OFFSET {offset}",
        conditions.values,
    )


class FoundPlace(msgspec.Struct, frozen=True):
    """A found dialog, by its number, and the turn with the words if any."""

    dialog: int
    at: float
    hit: int | None = None


class ConversationSearch:
    """One query; called in the thread of its connection."""

    def __init__(
        self, connection: sqlite3.Connection, query: ConversationQuery, *, counts: bool = False
    ) -> None:
        self._connection = connection
        self._query = query
        self._by_speaker = (
            query.agent is not None and query.words is None and (counts or self._is_rare())
        )
        texts = _BY_SPEAKER if self._by_speaker else _OF_CONVERSATIONS
        self._given = given = QueryConditions(query, texts, "?")
        if query.since is not None and query.until is not None:
            since, until = given.value(query.since), given.value(query.until)
            given.conditions.append(_IN_TIME.format(since, until))
        if query.ids is not None:
            ids = ", ".join(given.value(id_) for id_ in query.ids) or "NULL"
            given.conditions.append(
                f"f.dialog IN (SELECT dialog FROM dialogs WHERE dialog_id IN ({ids}))"
            )

    def page(self, after: DialogPlace | None, limit: int) -> list[FoundPlace]:
        """Return dialogs in the order of the query; `at` of each is its figure in the order."""
        flag, given, more, by = self._query.flag, self._given, [], f"f.{self._query.order}"
        if after is not None:
            place = f"({given.value(after.at)}, {given.value(after.number)})"
            more.append(f"({by}, f.dialog) < {place}")
        if flag is not None:
            more.append(f"f.flags & {FLAG_BITS[flag]}")
        rows = self._connection.execute(
            f"SELECT f.dialog, {by} FROM {self._source(flag)}{given.where(*more)}"
            f" ORDER BY {by} DESC, f.dialog DESC LIMIT {given.value(limit)}",
            given.values,
        )
        return [FoundPlace(*row) for row in rows]

    def hits(self, before: int, number: int) -> tuple[list[FoundPlace], int | None]:
        """Return dialogs with the words, the latest hit of each first.

        Only `number` turns before the turn `before` are searched; the second value is the last
        searched turn, None at the end.
        """
        match = self.match
        if match is None:
            return [], None
        turns = self._connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
            (match, before, number),
        ).fetchall()
        if not turns:
            return [], None
        more = [f"u.utterance IN ({', '.join(str(int(turn)) for (turn,) in turns)})"]
        if self._query.flag is not None:
            more.append(f"f.flags & {FLAG_BITS[self._query.flag]}")
        rows = self._connection.execute(
            "SELECT f.dialog, f.at, u.utterance FROM utterances AS u"
            f" CROSS JOIN facts AS f ON f.dialog = u.dialog{self._given.where(*more)}"
            " ORDER BY u.utterance DESC",
            self._given.values,
        )
        places = [FoundPlace(*row) for row in rows.fetchall()]
        return places, turns[-1][0] if len(turns) == number else None

    def has_later_hit(self, dialog: int, turn: int) -> bool:
        """Return whether a dialog has the words in this turn or a later turn."""
        row = self._connection.execute(
            "SELECT 1 FROM words WHERE words MATCH ? AND rowid >= ? AND rowid IN"
            " (SELECT utterance FROM utterances WHERE dialog = ? AND utterance >= ? AND by_bot)",
            (self.match, turn, dialog, turn),
        ).fetchone()
        return row is not None

    def counts(self) -> tuple[int, int, int, int, int]:
        """Return the number of dialogs: all, and by flag."""
        given, bits = self._given, FLAG_BITS.values()
        if self._query.words is not None:
            if self.match is None:
                return 0, 0, 0, 0, 0
            given.conditions.append(
                "f.dialog IN (SELECT u.dialog FROM utterances AS u WHERE u.utterance IN ("
                f"SELECT rowid FROM words WHERE words MATCH {given.value(self.match)}"
                f" ORDER BY rowid DESC LIMIT {_HITS_COUNTED}))"
            )
        if not given.conditions:
            flags = (f"(SELECT count(*) FROM facts WHERE flags & {bit})" for bit in bits)
            statement = f"SELECT (SELECT count(*) FROM facts), {', '.join(flags)}"
        else:
            sums = (f"coalesce(sum(f.flags & {bit} != 0), 0)" for bit in bits)
            source = f"{self._source(None)}{given.where()}"
            statement = f"SELECT count(*), {', '.join(sums)} FROM {source}"
        counted: tuple[int, int, int, int, int]
        counted = self._connection.execute(statement, given.values).fetchone()
        return counted

    @cached_property
    def match(self) -> str | None:
        """The query for the index of words; None without words."""
        words = search_words(self._query.words or "")
        return " AND ".join(self._term(word) for word in words) or None

    def _term(self, word: str) -> str:
        """Return the search term of a word: a common word whole, any other also as a prefix.

        For a prefix the index has to join the turns of all words with the prefix.
        """
        whole = f'"{word}"'
        (found,) = self._connection.execute(SQL["hits_of"], (whole, _COMMON_TURNS)).fetchone()
        return whole if found == _COMMON_TURNS else f"{whole} *"

    def _source(self, flag: str | None) -> str:
        """Return the tables, in the order in which it is quick to go through them."""
        query = self._query
        if self._by_speaker:
            return "spoke CROSS JOIN facts AS f ON f.dialog = spoke.dialog"
        if query.words is not None or query.ids is not None or query.user is not None:
            return "facts AS f"
        if flag is None and query.order != "at":
            return "facts AS f"
        return f"facts AS f INDEXED BY {f'facts_{flag}' if flag else 'facts_by_time'}"

    def _is_rare(self) -> bool:
        """Return whether the agent of the query spoke in few dialogs."""
        (count,) = self._connection.execute(SQL["is_rare"], (self._query.agent,)).fetchone()
        return bool(count <= _RARE_DIALOGS)
