"""EffectBook: the ledger, with the steps that turns and the desk write in it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.shared_store import store_clock
from prolocutor.contracts.store import Store
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import JsonObject, Plain
from prolocutor.errors import ServiceError, ServiceRefused
from prolocutor.plugins.effects.ledger import (
    NONE,
    EffectLedger,
    EffectRecord,
    EffectState,
    StoredEffect,
)
from prolocutor.web.audit_trail import KIND as AUDIT
from prolocutor.web.audit_trail import AuditedAct

LONGEST_PAUSE: Final = 60.0
"""Seconds between two questions what became of an effect, at most."""

_UNCERTAIN: Final = (408, 409, 425)
"""Statuses below 500 that do not say that nothing was done."""

SURE: Final = 0.5
"""The confidence from which on an agent is believed to have acted, unless it says `acted`."""


class EffectBook:
    """The effects of a store, as a process works on them.

    `calls` are the running calls, `news` is set if an effect needs attention.
    """

    def __init__(self, store: Store) -> None:
        self.ledger = EffectLedger(store)
        self.clock: Callable[[], float] = store_clock(store)
        self.calls = BackgroundTasks("effect")
        self.news = asyncio.Event()
        self._store = store
        self._heard: Counter[str] = Counter()
        self._of_turns: dict[str, dict[str, str]] = {}
        self._auditing = BackgroundTasks("audit of effects")

    async def aclose(self, seconds: float) -> None:
        """Let running calls go on for some seconds, then end them."""
        await self.calls.aclose(seconds)
        await self._auditing.wait_until_ended()

    def note_change(self) -> None:
        """Note that an effect needs attention."""
        self.news.set()

    def hears(self, key: str) -> Callable[[], None]:
        """Note that a turn waits for an effect; return a function that ends the wait."""
        self._heard[key] += 1

        def ends() -> None:
            self._heard[key] -= 1
            if not self._heard[key]:
                del self._heard[key]

        return ends

    def take_up(self, turn_id: str, record: EffectRecord) -> None:
        """Note that a turn works on an effect, until it ends."""
        if record.user:
            self._of_turns.setdefault(turn_id, {})[record.key] = record.service

    def is_taken_up(self, key: str) -> bool:
        """Return whether a turn of this process works on an effect."""
        return any(key in keys for keys in self._of_turns.values())

    def leave(self, turn_id: str) -> dict[str, str]:
        """Return the services of the effects that a turn worked on, by key; the turn ends."""
        return self._of_turns.pop(turn_id, {})

    async def finish(
        self, started: StoredEffect, outcome: Plain | ServiceError
    ) -> StoredEffect | None:
        """Record the outcome of a call; return None if another process has settled it meanwhile.

        The effect of a call that did nothing is deleted, unless a person or an operator waits for
        its outcome.
        """
        by, now = started.record.service, self.clock()
        stored: StoredEffect | None = started
        while stored is not None:
            record, untold = stored.record, not self._heard[started.record.key]
            if record.attempt != started.record.attempt or record.state not in (
                "started",
                "unknown",
            ):
                return None
            if isinstance(outcome, Plain) and did_nothing(outcome.value):
                if len(record.steps) == 1 and await self.ledger.drop(stored):
                    return None
                after = record.to("not_done", now, by, why="it did nothing", untold=untold)
            elif isinstance(outcome, Plain):
                raw = msgspec.Raw(outcome.encoded)
                after = record.to("done", now, by, reply=raw, untold=untold)
            elif surely_not_done(outcome):
                after = record.to("not_done", now, by, why=str(outcome), untold=untold)
            elif record.state == "unknown":
                return stored
            else:
                until = now + min(LONGEST_PAUSE, 2.0**record.asked if record.asked else 0.0)
                after = record.to("unknown", now, by, why=str(outcome), until=until, untold=untold)
                if outcome.answered:
                    after = msgspec.structs.replace(after, ends=now)
            if (changed := await self.ledger.change(stored, after)) is not None:
                if after.is_open:
                    self.note_change()
                return changed
            stored = await self.ledger.find(record.user, record.key)
        return None

    async def end(
        self,
        stored: StoredEffect,
        state: EffectState,
        by: str,
        *,
        untold: bool = False,
        reply: msgspec.Raw = NONE,
        why: str = "",
    ) -> StoredEffect | None:
        """Record the end of an effect; return None if another process was faster."""
        now = self.clock()
        after = stored.record.to(state, now, by, untold=untold, why=why, reply=reply)
        changed = await self.ledger.change(stored, after)
        if changed is not None and untold:
            self.note_change()
        return changed

    def audit(self, who: str, act: str, key: str, address: str = "") -> None:
        """Record a decision on an effect, and its author, in the audit trail."""
        line = AuditedAct(self.clock(), who, address, act, f"effects/{key}")
        body = msgspec.json.encode([line])
        self._auditing.start(self._store.put_record("", AUDIT, new_id(), body))


def did_nothing(reply: Any) -> bool:
    """Return whether a skill reports that it did nothing: it has no answer, or `acted: false`."""
    given = reply if isinstance(reply, list) else [reply]
    return all(isinstance(one, dict) and one.get("acted") is False for one in given)


def is_unsure(reply: Any) -> bool:
    """Return whether a skill probably declined to act: all its hypotheses are unsure."""
    given = reply if isinstance(reply, list) else [reply]
    return all(isinstance(one, dict) and not _is_sure(one) for one in given)


def _is_sure(hypothesis: JsonObject) -> bool:
    if isinstance(acted := hypothesis.get("acted"), bool):
        return acted
    confidence = hypothesis.get("confidence")
    return not isinstance(confidence, int | float) or confidence >= SURE


def surely_not_done(error: ServiceError) -> bool:
    """Return whether a call that failed with this error has certainly done nothing."""
    if not error.sent:
        return True
    return isinstance(error, ServiceRefused) and (
        400 <= error.status < 500 and error.status not in _UNCERTAIN
    )
