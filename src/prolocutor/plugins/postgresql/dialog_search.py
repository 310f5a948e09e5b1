"""The statement that finds dialogs: it has only the conditions of the query."""

from __future__ import annotations

from typing import Any, Final

from msgspec import structs

from prolocutor.contracts.store import DialogQuery
from prolocutor.dialog import plain
from prolocutor.plugins.postgresql.stored_text import stored_text

_CONDITIONS: Final = {
    "user": 'd.person = (SELECT p.person FROM people p WHERE p."user" = {0})',
    "skill": "d.dialog IN (SELECT s.dialog FROM spoke s WHERE s.skill = {0})",
    "rating": "d.dialog IN (SELECT r.dialog FROM ratings r"
    " WHERE md5(r.value) = md5({0}) AND r.value = {0})",
    "since": "d.date_start >= {0}",
    "until": "d.date_start < {0}",
    "active": "d.active = {0}",
    "after": "d.dialog > coalesce((SELECT e.dialog FROM dialogs e WHERE e.dialog_id <= {0}"
    " ORDER BY e.dialog_id DESC LIMIT 1), 0)",
}
"""Conditions by field of `DialogQuery`. The dialog `after` may have been deleted since: then the
next older one stands for it."""


def statement(query: DialogQuery) -> tuple[str, list[Any]]:
    """Return the statement for a query, and its parameters."""
    values: list[Any] = [query.limit, query.offset]
    conditions = []
    for name, value in structs.asdict(query).items():
        if value is None or name not in _CONDITIONS:
            continue
        if name == "rating":
            value = plain.encode(value).decode()
        values.append(stored_text(value) if isinstance(value, str) else value)
        conditions.append(_CONDITIONS[name].format(f"${len(values)}"))
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    return (
        f"SELECT d.dialog_id FROM dialogs d {where}ORDER BY d.dialog LIMIT $1 OFFSET $2",
        values,
    )
