"""The statements that find dialogs for operators: each has only the conditions of its query."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import msgspec

from prolocutor.contracts.store.turn_record_store import ConversationQuery, DialogPlace
from prolocutor.stores.sqlite.queries import named
from prolocutor.stores.turn_records import search_words

_FLAGS: Final = {"down": 1, "none": 2, "failed": 4, "slow": 8}
_RARE: Final = 2000
"""Dialogs in which an agent spoke up to which it is quicker to begin with these."""
_HITS_COUNTED: Final = 20_000
"""Turns with the words looked for that counts look at."""
_COMMON: Final = 400
"""Turns with a word from which on beginnings are not looked for."""
_IS_RARE: Final = named("is_rare")
_HITS_OF: Final = named("hits_of")

_CONDITIONS: Final = {
    "agent": "EXISTS (SELECT 1 FROM spoke WHERE spoke.skill = :agent AND spoke.dialog = f.dialog)",
    "user": "f.dialog IN (SELECT dialog FROM dialogs"
    " WHERE person = (SELECT person FROM people WHERE user = :user))",
    "channel": "f.channel = :channel",
    "since": "f.at >= :since",
    "until": "f.began < :until",
}
_SPEAKERS: Final = "spoke CROSS JOIN facts AS f ON f.dialog = spoke.dialog"
"""The dialogs in which a skill spoke, found by the skill."""

_IN_TIME: Final = (
    "EXISTS (SELECT 1 FROM utterances AS u LEFT JOIN turns AS t ON t.turn = u.utterance"
    " WHERE u.dialog = f.dialog AND u.by_bot"
    " AND coalesce(t.at, (julianday(u.date_time) - 2440587.5) * 86400.0) >= :since"
    " AND coalesce(t.at, (julianday(u.date_time) - 2440587.5) * 86400.0) < :until)"
)


class FoundPlace(msgspec.Struct, frozen=True):
    """A dialog that was found, by its number, and the turn with the words if any."""

    dialog: int
    at: float
    hit: int | None = None


class ConversationSearch:
    """One query; called in the thread of its connection."""

    def __init__(self, connection: sqlite3.Connection, query: ConversationQuery) -> None:
        self._connection = connection
        self._query = query
        given = msgspec.structs.asdict(query)
        self._values: dict[str, Any] = {
            name: given[name] for name in _CONDITIONS if given[name] is not None
        }
        self._conditions = [_CONDITIONS[name] for name in self._values]
        if query.since is not None and query.until is not None:
            self._conditions.append(_IN_TIME)
        if query.ids is not None:
            self._conditions.append(self._among(query.ids))
        self._begins_rare = query.words is None and self._is_rare()
        if self._begins_rare and query.agent is not None:
            self._conditions = _by_speaker(self._conditions)

    def page(self, after: DialogPlace | None, limit: int) -> list[FoundPlace]:
        """Return dialogs, those with the latest turn first."""
        flag = self._query.flag
        conditions, values = [*self._conditions], {**self._values, "limit": limit}
        if after is not None:
            conditions.append("(f.at, f.dialog) < (:at, :number)")
            values |= {"at": after.at, "number": after.number}
        if flag is not None:
            conditions.append(f"f.flags & {_FLAGS[flag]}")
        statement = (
            f"SELECT f.dialog, f.at FROM {self._source(flag)}{_where(conditions)}"
            " ORDER BY f.at DESC, f.dialog DESC LIMIT :limit"
        )
        return [FoundPlace(*row) for row in self._connection.execute(statement, values)]

    def hits(self, before: int, number: int) -> tuple[list[FoundPlace], int | None]:
        """Return dialogs with the words, the latest hit of each first.

        Only `number` turns before the turn `before` are looked at; the second value is the last of
        these, None if there are no more.
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
        conditions = [*self._conditions, f"u.utterance IN ({_numbers(turns)})"]
        if self._query.flag is not None:
            conditions.append(f"f.flags & {_FLAGS[self._query.flag]}")
        rows = self._connection.execute(
            "SELECT f.dialog, f.at, u.utterance FROM utterances AS u"
            f" CROSS JOIN facts AS f ON f.dialog = u.dialog{_where(conditions)}"
            " ORDER BY u.utterance DESC",
            self._values,
        )
        found = [FoundPlace(*row) for row in rows.fetchall()]
        return found, turns[-1][0] if len(turns) == number else None

    def has_hit_from(self, dialog: int, turn: int) -> bool:
        """Return whether a dialog has the words in this turn or a later one."""
        row = self._connection.execute(
            "SELECT 1 FROM words WHERE words MATCH ? AND rowid >= ? AND rowid IN"
            " (SELECT utterance FROM utterances WHERE dialog = ? AND utterance >= ? AND by_bot)",
            (self.match, turn, dialog, turn),
        ).fetchone()
        return row is not None

    def counts(self) -> tuple[int, int, int, int, int]:
        """Return the number of dialogs: all, and by flag."""
        conditions, source = [*self._conditions], self._source(None)
        if self._query.agent is not None and self._query.words is None:
            conditions, source = _by_speaker(conditions), _SPEAKERS
        if self._query.words is not None:
            if self.match is None:
                return 0, 0, 0, 0, 0
            conditions = [*self._conditions, (
                "f.dialog IN (SELECT u.dialog FROM utterances AS u WHERE u.utterance IN ("
                "SELECT rowid FROM words WHERE words MATCH :match"
                f" ORDER BY rowid DESC LIMIT {_HITS_COUNTED}))"
            )]  # fmt: skip
        if not conditions:
            flags = (f"(SELECT count(*) FROM facts WHERE flags & {bit})" for bit in _FLAGS.values())
            statement = f"SELECT (SELECT count(*) FROM facts), {', '.join(flags)}"
        else:
            sums = (f"coalesce(sum(f.flags & {bit} != 0), 0)" for bit in _FLAGS.values())
            statement = f"SELECT count(*), {', '.join(sums)} FROM {source}{_where(conditions)}"
        values = {**self._values, "match": self.match}
        counted: tuple[int, int, int, int, int]
        counted = self._connection.execute(statement, values).fetchone()
        return counted

    @cached_property
    def match(self) -> str | None:
        """What the index of words is asked; None where there are no words to look for."""
        words = search_words(self._query.words or "")
        return " AND ".join(self._term(word) for word in words) or None

    def _term(self, word: str) -> str:
        """Return a word as it is looked for: whole where it is common, else as a beginning too.

        For beginnings the index has to join the turns of all words that begin so.
        """
        whole = f'"{word}"'
        (found,) = self._connection.execute(_HITS_OF, (whole, _COMMON)).fetchone()
        return whole if found == _COMMON else f"{whole} *"

    def _source(self, flag: str | None) -> str:
        """Return the tables, in the order in which it is quick to go through them."""
        query = self._query
        if self._begins_rare and query.agent is not None:
            return _SPEAKERS
        if query.words is not None or query.ids is not None or query.user is not None:
            return "facts AS f"
        return f"facts AS f INDEXED BY {f'facts_{flag}' if flag else 'facts_by_time'}"

    def _is_rare(self) -> bool:
        """Return whether the agent of the query spoke in few dialogs."""
        if self._query.agent is None:
            return False
        (count,) = self._connection.execute(_IS_RARE, (self._query.agent,)).fetchone()
        return bool(count <= _RARE)

    def _among(self, ids: Sequence[str]) -> str:
        """Return the condition that a dialog has one of these ids."""
        self._values |= {f"id{place}": id_ for place, id_ in enumerate(ids)}
        names = ", ".join(f":id{place}" for place in range(len(ids))) or "NULL"
        return f"f.dialog IN (SELECT dialog FROM dialogs WHERE dialog_id IN ({names}))"


def _by_speaker(conditions: Sequence[str]) -> list[str]:
    """Return the conditions for `_SPEAKERS`."""
    return ["spoke.skill = :agent" if one == _CONDITIONS["agent"] else one for one in conditions]


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _numbers(rows: Sequence[tuple[int]]) -> str:
    return ", ".join(str(int(number)) for (number,) in rows)
