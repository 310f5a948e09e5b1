"""The statements that find dialogs for operators: each has only the conditions of its query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.store.turn_record_store import ConversationQuery, DialogPlace
from prolocutor.plugins.postgresql.stored_text import stored_text
from prolocutor.stores.turn_records import search_words

_FLAGS: Final = {"down": 1, "none": 2, "failed": 4, "slow": 8}


class SharedFoundPlace(msgspec.Struct, frozen=True):
    """A dialog that was found, by its number, and the position of the reply with the words."""

    dialog: int
    at: float
    hit: int | None


class SharedConversationSearch:
    """One query, as statements with their values."""

    def __init__(self, query: ConversationQuery) -> None:
        self._query = query
        self._values: list[Any] = []
        words = search_words(query.words or "")
        self.finds_nothing = query.words is not None and not words
        """Whether there are no words to look for where some should be."""
        self._match = ""
        if query.words is not None:
            match = " & ".join(f"'{stored_text(word)}':*" for word in words)
            self._match = f"to_tsquery('simple', {self._value(match)})"
        self._conditions = self._of_query(query)

    def page(self, after: DialogPlace | None, limit: int) -> tuple[str, *tuple[Any, ...]]:
        """Return the statement for dialogs, those with the latest turn, or hit, first."""
        conditions = [*self._conditions]
        if self._query.flag is not None:
            conditions.append(f"f.flags & {_FLAGS[self._query.flag]} <> 0")
        at, hit, source = "f.at", "NULL::int", "facts f"
        if self._match:
            at, hit = "w.at", "w.position"
            source = (
                "(SELECT DISTINCT ON (y.dialog) y.person, y.dialog, y.at, y.position FROM words y"
                f" WHERE y.words @@ {self._match} ORDER BY y.dialog, y.position DESC) w"
                " JOIN facts f USING (person, dialog)"
            )
        if after is not None:
            place = self._value(after.at), self._value(after.number)
            conditions.append(f"({at}, f.dialog) < ({place[0]}::float8, {place[1]}::bigint)")
        statement = (
            f"SELECT f.dialog, {at}, {hit} FROM {source}{_where(conditions)}"
            f" ORDER BY {at} DESC, f.dialog DESC LIMIT {int(limit)}"
        )
        return statement, *self._values

    def counts(self) -> tuple[str, *tuple[Any, ...]]:
        """Return the statement for the number of dialogs: all, and by flag."""
        conditions = [*self._conditions]
        if self._match:
            conditions.append(
                f"f.dialog IN (SELECT w.dialog FROM words w WHERE w.words @@ {self._match})"
            )
        sums = (f"count(*) FILTER (WHERE f.flags & {bit} <> 0)" for bit in _FLAGS.values())
        statement = f"SELECT count(*), {', '.join(sums)} FROM facts f{_where(conditions)}"
        return statement, *self._values

    def _of_query(self, query: ConversationQuery) -> list[str]:
        """Return the conditions but for the flag and the words."""
        found: list[str] = []
        if query.agent is not None:
            agent = self._value(stored_text(query.agent))
            found.append(
                "EXISTS (SELECT FROM spoke s WHERE s.person = f.person AND s.dialog = f.dialog"
                f" AND s.skill = {agent})"
            )
        if query.user is not None:
            user = self._value(stored_text(query.user))
            found.append(f'f.person = (SELECT p.person FROM people p WHERE p."user" = {user})')
        if query.channel is not None:
            found.append(f"f.channel = {self._value(stored_text(query.channel))}")
        if query.ids is not None:
            ids = self._value([stored_text(one) for one in query.ids])
            found.append(
                "f.dialog IN"
                f" (SELECT d.dialog FROM dialogs d WHERE d.dialog_id = ANY ({ids}::text[]))"
            )
        return [*found, *self._in_time(query)]

    def _in_time(self, query: ConversationQuery) -> list[str]:
        found: list[str] = []
        since = None if query.since is None else f"{self._value(query.since)}::float8"
        until = None if query.until is None else f"{self._value(query.until)}::float8"
        if since is not None:
            found.append(f"f.at >= {since}")
        if until is not None:
            found.append(f"f.began < {until}")
        if since is not None and until is not None:
            # A turn in between: by its record, or where that is not kept by its words.
            found.append(
                "EXISTS (SELECT FROM words w WHERE w.person = f.person AND w.dialog = f.dialog"
                f" AND w.at >= {since} AND w.at < {until})"
            )
        return found

    def _value(self, value: Any) -> str:
        self._values.append(value)
        return f"${len(self._values)}"


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
