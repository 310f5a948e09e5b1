"""OperatorLabels: which agents operators say are right, kept as records of the assistant."""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from prolocutor.contracts.store import Store
from prolocutor.dialog import plain
from prolocutor.errors import NotFound

log = logging.getLogger(__name__)

KIND: Final = "label"


class LabelledTurn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn that a label counts for: its reply (`utt_id`), what `user` said, agents' answers."""

    utt_id: str
    user: str
    text: str
    answers: dict[str, str] = {}


class OperatorLabel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One label: the right `agents` (none: nobody) for the same question in several turns.

    `answer` are the words that would have been right, "" where none were given. `by` is the
    operator's name, `at` UNIX seconds.
    """

    id: str
    at: float
    by: str
    agents: list[str]
    turns: list[LabelledTurn]
    answer: str = ""
    sign: str = ""


class OperatorLabels:
    """The labels of one assistant. What a person said is removed from them with the person."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.deletions = 0
        """How many persons were deleted: what was read of dialogs before may be theirs."""

    async def listed(self) -> list[OperatorLabel]:
        """Return all labels, the oldest first; one that cannot be read is logged and left out."""
        found = []
        for key, body in (await self._store.records("", KIND)).items():
            try:
                found.append(msgspec.json.decode(body, type=OperatorLabel))
            except msgspec.MsgspecError as error:
                log.error("the label %s is left out: %s", key, error)
        return found

    async def add(self, label: OperatorLabel) -> None:
        """Store a label, in place of the one with this id."""
        await self._store.put_record("", KIND, label.id, plain.encode(label))

    async def delete(self, id_: str) -> None:
        """Delete a label; `NotFound` where there is none."""
        if not await self._store.delete_record("", KIND, id_):
            raise NotFound(f"no label has the id {id_!s:.80}", field="id")

    async def forget(self, user: str) -> None:
        """Remove what a person said; a label that is left without words goes too."""
        self.deletions += 1
        for label in await self.listed():
            await self._leave(label, [one for one in label.turns if one.user != user])

    async def forget_deleted(self, user: str | None) -> bool:
        """Remove turns that were deleted, of one person if one is named; return whether any was."""
        self.deletions += 1
        changed = False
        for label in await self.listed():
            left = [
                one
                for one in label.turns
                if user not in (None, one.user) or await self._store.owner_of(one.utt_id)
            ]
            changed |= await self._leave(label, left)
        return changed

    async def _leave(self, label: OperatorLabel, left: list[LabelledTurn]) -> bool:
        """Leave some turns of a label, or nothing; return whether that changed it."""
        if not left:
            await self._store.delete_record("", KIND, label.id)
        elif len(left) < len(label.turns):
            await self.add(msgspec.structs.replace(label, turns=left))
        return len(left) < len(label.turns)
