"""EffectLedger: the state of each effect, as a document of its person in the store.

An effect goes from `waiting` (for an approval) or nothing to `started`, and from there to `done`,
`not_done` or `unknown`. Each step is written only if no other process was faster, so a single
process starts an effect. Open effects have their own kind of record, to be found quickly.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from prolocutor.contracts.store import RecordChange, RecordStore
from prolocutor.dialog.plain import JsonObject

OPEN: Final = "effect"
CLOSED: Final = "effect-closed"
"""The kinds of the documents: of effects that need something, and of those that are over."""

MAX_EFFECTS: Final = 10_000
"""The latest effects that are looked at."""

EffectState = Literal[
    "waiting", "started", "unknown", "done", "not_done", "refused", "expired", "given_up"
]
SETTLED: Final = frozenset({"done", "not_done", "refused", "expired", "given_up"})


NONE: Final = msgspec.Raw(b"null")
"""JSON of which there is none."""

_encode: Final = msgspec.json.Encoder().encode


class EffectStep(msgspec.Struct, frozen=True):
    """A step of an effect: its time (UNIX seconds), its new state, and its author."""

    at: float
    state: EffectState
    by: str


class EffectRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An effect: the call of an acting skill.

    - `key` identifies the effect to the agent.
    - `title` describes the action, mostly in the person's words, `fields` holds its values, `kinds`
      the kind of each field (members of a JSON Schema).
    - `fixed`: the agent heeds no other values.
    - `body` is the request, until the effect is over.
    - `is_state`: the request is the agent state.
    - `until` is the time at which waiting for an approval ends, the call is over at the latest, or
      somebody is asked next.
    - `asked` counts these questions.
    - `ends` is the time from which a started call can no longer act.
    - `attempt` tells starts apart.
    - `approver` has to approve, `approved_by` did approve.
    - `reply` is the agent's answer, `why` the error.
    - `untold`: the person does not know the outcome yet.
    - `aside`: because the reply of the turn was another skill's.
    - `language` is the language in which the person is told.
    """

    key: str
    user: str
    dialog_name: str = "main"
    dialog_id: str = ""
    service: str
    turn_id: str
    state: EffectState
    at: float
    title: str = ""
    fields: JsonObject | None = None
    kinds: JsonObject = {}
    fixed: bool = False
    body: msgspec.Raw = NONE
    is_state: bool = False
    timeout: float = 2.0
    until: float = 0.0
    ends: float = 0.0
    asked: int = 0
    attempt: str = ""
    approver: str = ""
    approved_by: str = ""
    reply: msgspec.Raw = NONE
    why: str = ""
    untold: bool = False
    aside: bool = False
    language: str = ""
    steps: list[EffectStep] = []

    @property
    def is_open(self) -> bool:
        """Whether the effect still needs a step."""
        return self.untold or self.state not in SETTLED

    def to(self, state: EffectState, at: float, by: str, **changes: Any) -> EffectRecord:
        """Return the record in another state; an ended effect keeps no request."""
        steps = [*self.steps, EffectStep(at, state, by)]
        if state in SETTLED:
            changes.setdefault("body", NONE)
        return msgspec.structs.replace(self, state=state, steps=steps, **changes)


_decode: Final = msgspec.json.Decoder(EffectRecord).decode


class StoredEffect(msgspec.Struct, frozen=True):
    """An effect as it is stored; `body` holds its stored bytes."""

    record: EffectRecord
    body: bytes


class EffectLedger:
    """The effects in a store."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    async def find(self, user: str, key: str) -> StoredEffect | None:
        """Return an effect of a person by its key."""
        for kind in (OPEN, CLOSED):
            if (body := await self._store.record(user, kind, key)) is not None:
                return StoredEffect(_decode(body), body)
        return None

    async def change(self, old: StoredEffect | None, new: EffectRecord) -> StoredEffect | None:
        """Write a step; return None if another process has changed the effect meanwhile."""
        body = _encode(new)
        before = None if old is None else _record_kind(old.record)
        after = _record_kind(new)

        def record_change(kind: str, was: bytes | None, to: bytes | None) -> RecordChange:
            return RecordChange(
                user=new.user, kind=kind, key=new.key, before=was, after=to, about=new.dialog_id
            )

        was = None if old is None else old.body
        changes = [record_change(after, was if before == after else None, body)]
        if before is not None and before != after:
            changes.insert(0, record_change(before, was, None))
        return StoredEffect(new, body) if await self._store.change_records(changes) else None

    async def drop(self, stored: StoredEffect) -> bool:
        """Delete an effect that did nothing; return False if another process changed it."""
        record = stored.record
        gone = RecordChange(
            user=record.user,
            kind=_record_kind(record),
            key=record.key,
            before=stored.body,
            after=None,
        )
        return await self._store.change_records([gone])

    async def list_effects(
        self, *, closed: bool = False, limit: int = MAX_EFFECTS
    ) -> list[StoredEffect]:
        """Return the latest effects, open or closed, the oldest first."""
        rows = await self._store.records_since(CLOSED if closed else OPEN, limit=limit)
        return [StoredEffect(_decode(row.body), row.body) for row in rows]

    async def find_touched(self, user: str, turn_id: str, since: float) -> list[StoredEffect]:
        """Return the effects of a turn, and the person's other effects changed since a time."""
        found = []
        for kind in (OPEN, CLOSED):
            for key, body in (await self._store.records(user, kind)).items():
                stored = StoredEffect(_decode(body), body)
                if key.startswith(f"{turn_id}/") or stored.record.steps[-1].at >= since:
                    found.append(stored)
        return found

    async def find_effect(self, key: str) -> StoredEffect | None:
        """Return the effect with this key, of any person."""
        for closed in (False, True):
            for effect in await self.list_effects(closed=closed):
                if effect.record.key == key:
                    return effect
        return None


def _record_kind(record: EffectRecord) -> str:
    return OPEN if record.is_open else CLOSED
