"""The statement that finds dialogs: it has only the conditions of the query."""

from __future__ import annotations

from typing import Any, Final

from msgspec import structs

from prolocutor.contracts.store import DialogQuery
from prolocutor.dialog import plain

_CONDITIONS: Final = {
    "user": "person = (SELECT person FROM people WHERE user = :user)",
    "skill": "dialog IN (SELECT dialog FROM spoke WHERE skill = :skill)",
    "rating": "dialog IN (SELECT dialog FROM ratings WHERE value = :rating)",
    "since": "date_start >= :since",
    "until": "date_start < :until",
    "active": "active = :active",
    "after": """dialog > coalesce(
        (SELECT dialog FROM dialogs WHERE dialog_id <= :after ORDER BY dialog_id DESC LIMIT 1), 0)
    """,
}
"""Conditions by field of `DialogQuery`. The dialog `after` may have been deleted since: then the
next older one stands for it."""


def statement(query: DialogQuery) -> tuple[str, dict[str, Any]]:
    """Return the statement for a query, and its parameters."""
    given = {name: value for name, value in structs.asdict(query).items() if value is not None}
    if "rating" in given:
        given["rating"] = plain.encode(given["rating"]).decode()
    conditions = [text for name, text in _CONDITIONS.items() if name in given]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return (
        f"SELECT dialog_id FROM dialogs {where} ORDER BY dialog LIMIT :limit OFFSET :offset",
        given,
    )
