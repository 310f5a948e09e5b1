"""Statements for finding dialogs, with the conditions of a query."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.contracts.store import DialogQuery
from prolocutor.contracts.turn_record_store import ConversationQuery, DialogPlace
from prolocutor.plugins.postgresql.statements import stored_text
from prolocutor.stores.statements import FLAG_BITS, QueryConditions
from prolocutor.stores.turn_records import search_words

_OF_DIALOGS: Final = {
    "user": 'd.person = (SELECT p.person FROM people p WHERE p."user" = {0})',
    "user_prefix": "d.person IN (SELECT p.person FROM people p"
    ' WHERE p."user" >= {0} AND p."user" < {0} || chr(1114111))',
    "skill": "d.dialog IN (SELECT s.dialog FROM spoke s WHERE s.skill = {0})",
    "rating": "d.dialog IN (SELECT r.dialog FROM ratings r"
    " WHERE md5(r.value) = md5({0}) AND r.value = {0})",
    "since": "d.date_start >= {0}",
    "until": "d.date_start < {0}",
    "active": "d.active = {0}",
    "after": "d.dialog > coalesce((SELECT e.dialog FROM dialogs e WHERE e.dialog_id <= {0}"
    " ORDER BY e.dialog_id DESC LIMIT 1), 0)",
}
"""The dialog `after` may have been deleted since: then the next older one stands for it."""

_OF_CONVERSATIONS: Final = {
    "agent": "EXISTS (SELECT FROM spoke s WHERE s.person = f.person AND s.dialog = f.dialog"
    " AND s.skill = {0})",
    "user": 'f.person = (SELECT p.person FROM people p WHERE p."user" = {0})',
    "channel": "f.channel = {0}",
    "since": "f.at >= {0}::float8",
    "until": "f.began < {0}::float8",
    "ids": "f.dialog IN (SELECT d.dialog FROM dialogs d WHERE d.dialog_id = ANY ({0}::text[]))",
}
_IN_TIME: Final = (
    "EXISTS (SELECT FROM words w WHERE w.person = f.person AND w.dialog = f.dialog"
    " AND w.at >= {0}::float8 AND w.at < {1}::float8)"
)
"""A turn in between: by its record, or where that is not kept by its words."""


def statement(query: DialogQuery) -> tuple[str, list[Any]]:
    """Return the statement for the ids of dialogs, and its values."""
    conditions = QueryConditions(query, _OF_DIALOGS, "$", _storable)
    where = conditions.where()
    limit, offset = conditions.value(query.limit), conditions.value(query.offset)
    order = "d.dialog DESC" if query.newest_first else "d.dialog"
    return (
        f"SELECT d.dialog_id FROM dialogs d{where} ORDER BY {order} LIMIT {limit} OFFSET {offset}",
        conditions.values,
    )


class SharedFoundPlace(msgspec.Struct, frozen=True):
    """A found dialog: its number, and the position of the reply with the searched words."""

    dialog: int
    at: float
    hit: int | None


class SharedConversationSearch:
    """A query as statements with values."""

    def __init__(self, query: ConversationQuery) -> None:
        self._query = query
        self._given = given = QueryConditions(query, _OF_CONVERSATIONS, "$", _storable)
        if query.since is not None and query.until is not None:
            times = given.value(query.since), given.value(query.until)
            given.conditions.append(_IN_TIME.format(*times))
        words = search_words(query.words or "")
        self.finds_nothing = query.words is not None and not words
        """Whether the query asks for words and has none that can be searched."""
        self._match = ""
        if query.words is not None:
            match = " & ".join(f"'{stored_text(word)}':*" for word in words)
            self._match = f"to_tsquery('simple', {given.value(match)})"

    def page(self, after: DialogPlace | None, limit: int) -> tuple[str, *tuple[Any, ...]]:
        """Return the statement for dialogs in the order of the query, or the latest hit first."""
        more, given = [], self._given
        if self._query.flag is not None:
            more.append(f"f.flags & {FLAG_BITS[self._query.flag]} <> 0")
        at, hit, source = f"f.{self._query.order}", "NULL::int", "facts f"
        if self._match:
            at, hit = "w.at", "w.position"
            source = (
                "(SELECT DISTINCT ON (y.dialog) y.person, y.dialog, y.at, y.position FROM words y"
                f" WHERE y.words @@ {self._match} ORDER BY y.dialog, y.position DESC) w"
                " JOIN facts f USING (person, dialog)"
            )
        if after is not None:
            place = given.value(after.at), given.value(after.number)
            more.append(f"({at}, f.dialog) < ({place[0]}::float8, {place[1]}::bigint)")
        statement = (
            f"SELECT f.dialog, {at}, {hit} FROM {source}{given.where(*more)}"
            f" ORDER BY {at} DESC, f.dialog DESC LIMIT {int(limit)}"
        )
        return statement, *given.values

    def counts(self) -> tuple[str, *tuple[Any, ...]]:
        """Return the statement for the numbers of dialogs: of all, and by flag."""
        more = []
        if self._match:
            more.append(
                f"f.dialog IN (SELECT w.dialog FROM words w WHERE w.words @@ {self._match})"
            )
        sums = (f"count(*) FILTER (WHERE f.flags & {bit} <> 0)" for bit in FLAG_BITS.values())
        where = self._given.where(*more)
        return f"SELECT count(*), {', '.join(sums)} FROM facts f{where}", *self._given.values


def _storable(value: Any) -> Any:
    """Return a value in a form for the database."""
    if isinstance(value, str):
        return stored_text(value)
    return [stored_text(one) for one in value] if isinstance(value, list | tuple) else value
