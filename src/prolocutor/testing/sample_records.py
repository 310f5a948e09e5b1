"""Sample records of turns for tests of stores."""

from __future__ import annotations

import time
from typing import Any, Final

from prolocutor.contracts.observer import ProfileChange, ServiceRecord, TurnRecord
from prolocutor.contracts.store import OpenedTurn, Store
from prolocutor.contracts.store.turn_record_store import (
    ConversationQuery,
    DialogSummary,
    KeepsTurnRecords,
    TurnRecordStore,
)
from prolocutor.durations import DAY
from prolocutor.testing.sample_turns import a_closing, open_new_turn

SLOW: Final = 3.0
ALL: Final = ConversationQuery()


def records_of(store: Store) -> TurnRecordStore:
    """Return what keeps the records of a store."""
    assert isinstance(store, KeepsTurnRecords)
    return store.turn_records


async def found(store: Store, query: ConversationQuery = ALL) -> list[DialogSummary]:
    """Return all dialogs that match, once the words of all turns are indexed."""
    await indexed(store)
    return (await records_of(store).conversations(query, None, 100)).items


async def indexed(store: Store) -> None:
    """Wait until the words of all turns can be searched."""
    while await records_of(store).tend(now=0.0, keep=DAY, most=1000):
        pass


async def say(
    store: Store,
    user: str,
    text: str,
    *,
    reply: str = "hi",
    skill: str = "greeter",
    channel: str = "kit",
    day: str = "2024-03-02",
) -> OpenedTurn:
    """Store a turn, without a record."""
    date_time = f"{day} 12:00:00.000000"
    opened = await open_new_turn(store, user, text, channel_type=channel, date_time=date_time)
    await store.close_turn(a_closing(opened, reply, skill=skill, at=date_time))
    return opened


async def keep_turn(
    store: Store,
    user: str,
    text: str,
    *,
    reply: str = "hi",
    skill: str = "greeter",
    channel: str = "kit",
    day: str = "2024-03-02",
    **record: Any,
) -> TurnRecord:
    """Store a turn with its record, which is returned."""
    opened = await say(store, user, text, reply=reply, skill=skill, channel=channel, day=day)
    made = a_record(opened, skill=skill, **record)
    await records_of(store).add([made], slow=SLOW)
    return made


def a_record(
    opened: OpenedTurn,
    *,
    at: float | None = None,
    seconds: float = 0.5,
    by: str = "selector",
    skill: str = "greeter",
    outcome: Any = "done",
    cost: float = 0.0,
) -> TurnRecord:
    """Make the record of a turn in which one agent was asked."""
    said = opened.opening
    won = by == "selector"
    service = ServiceRecord(
        name=skill,
        stage="skills",
        outcome=outcome,
        started=0.01,
        ended=0.11,
        calls=1,
        error=None if outcome == "done" else "it broke",
        code=None if outcome == "done" else outcome,
        cost=cost,
        hypotheses=int(outcome == "done"),
    )
    return TurnRecord(
        turn_id=said.turn_id,
        dialog_id=opened.dialog_id,
        user=said.user,
        channel=said.channel_type,
        started=time.time() if at is None else at,
        seconds=seconds,
        attempt=1,
        text=said.text,
        response="hi",
        active_skill=skill if won else "",
        confidence=0.5,
        by=by,
        chosen=[f"{skill}.0"] if won else [],
        asked=[skill],
        services=[service],
        hypotheses=[],
        faults=[{"service": skill, "what": "it mumbled"}],
        utt_id=said.bot_utt_id,
        reasons=[{"service": "router", "asked": [skill], "reason": "likely"}],
        cost=cost,
        scores={f"{skill}.0": 0.75},
        version={"router": "r-1"},
        changes=[ProfileChange(whose="person", part="attributes", key="city", after="Oslo")],
    )
