"""Operators' notes on turns: tags, comments, and the right agents."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from prolocutor.assistant.operator_desk import OperatorLabel
from prolocutor.contracts.store import Store

KIND: Final = "turn-note"
"""The kind of the records of notes: of the person, by the `utt_id` of the reply."""

MOST_NOTES: Final = 10_000

Tag: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=30, extra={"error": "a tag has 1 to 30 characters"})
]


class TurnNote(msgspec.Struct, frozen=True, kw_only=True):
    """A note on a turn: its reply and dialog, its author and its time (UNIX seconds)."""

    utt_id: str
    dialog_id: str
    tags: list[str]
    comment: str
    by: str
    at: float


class GivenLabel(msgspec.Struct, frozen=True, kw_only=True):
    """The label of a question: its author and content, and the number of `turns` it applies to."""

    id: str
    by: str
    at: float
    agents: list[str]
    answer: str
    turns: int


def given_label(label: OperatorLabel | None) -> GivenLabel | None:
    """Return the view of a label, None without a label."""
    if label is None:
        return None
    return GivenLabel(
        id=label.id,
        by=label.by,
        at=label.at,
        agents=label.agents,
        answer=label.answer,
        turns=len(label.turns),
    )


class TurnNotes:
    """The notes of one store; they are deleted with the dialog."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def all(self, tag: str | None = None) -> list[TurnNote]:
        """Return the latest notes, only those with `tag` if it is given, the oldest first."""
        kept = await self._store.records_since(KIND, 0, MOST_NOTES)
        notes = [msgspec.json.decode(one.body, type=TurnNote) for one in kept]
        return [one for one in notes if tag is None or tag in one.tags]

    async def find(self, utt_id: str) -> TurnNote | None:
        """Return the note on a turn, None if there is no note."""
        user = await self._store.find_owner(utt_id)
        body = None if user is None else await self._store.record(user, KIND, utt_id)
        return None if body is None else msgspec.json.decode(body, type=TurnNote)

    async def put(self, note: TurnNote) -> None:
        """Keep a note in place of the earlier note; an empty note is removed."""
        user = await self._store.find_owner(note.utt_id) or ""
        if note.tags or note.comment:
            body = msgspec.json.encode(note)
            await self._store.put_record(user, KIND, note.utt_id, body, about=note.utt_id)
        else:
            await self._store.delete_record(user, KIND, note.utt_id)
