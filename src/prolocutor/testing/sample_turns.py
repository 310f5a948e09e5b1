"""Sample turns for tests of stores: openings, closings, entries of the agenda, deliveries."""

from __future__ import annotations

import time
from typing import Any, Final

import msgspec

from prolocutor.clocks import DAY
from prolocutor.contracts.observer import ProfileChange, ServiceRecord, TurnRecord
from prolocutor.contracts.store import (
    AgendaEntry,
    Delivery,
    NewDialog,
    NewProfileVersion,
    NewUtterance,
    OpenedTurn,
    ProfileVersion,
    Store,
    TurnClosing,
    TurnOpening,
    TurnStore,
)
from prolocutor.contracts.turn_record_store import (
    ConversationQuery,
    DialogSummary,
    KeepsTurnRecords,
    TurnRecordStore,
)
from prolocutor.dialog import ids, plain
from prolocutor.dialog.dialog import Change, apply_changes

SLOW: Final = 3.0
ALL: Final = ConversationQuery()


def an_opening(user: str = "ann", text: str = "hi", **changes: Any) -> TurnOpening:
    """Make an opening; `changes` are other fields of `TurnOpening`."""
    opening = TurnOpening(
        turn_id=ids.TurnId(ids.new_id()),
        user=user,
        dialog_name="main",
        channel_type="kit",
        utt_id=ids.UtteranceId(ids.new_id()),
        bot_utt_id=ids.UtteranceId(ids.new_id()),
        date_time=ids.timestamp(),
        started=time.time(),
        text=text,
        attributes=b"{}",
        message=plain.encode({"type": "command", "command": text}),
        new_dialog=a_new_dialog(),
    )
    return msgspec.structs.replace(opening, **changes)


def a_closing(
    opened: OpenedTurn,
    reply: str = "hello",
    *,
    skill: str = "greeter",
    hypotheses: list[Any] | None = None,
    human_attributes: dict[str, Any] | None = None,
    bot_attributes: dict[str, Any] | None = None,
    annotations: Any = None,
    extra: dict[str, Any] | None = None,
    at: str | None = None,
    **changes: Any,
) -> TurnClosing:
    """Make the closing of a turn: both utterances, new versions of profiles, a message.

    `changes` are other fields of `TurnClosing`.
    """
    opening = opened.opening
    human = _further(opened.human, human_attributes)
    bot = _further(opened.bot, bot_attributes)
    date_time = at or ids.timestamp()
    question = {
        "utt_id": opening.utt_id,
        "text": opening.text,
        "annotations": annotations or {},
        "date_time": opening.date_time,
        "attributes": plain.decode(opening.attributes),
        **(extra or {}),
    }
    answer = {
        "utt_id": opening.bot_utt_id,
        "text": reply,
        "orig_text": reply,
        "active_skill": skill,
        "confidence": 0.5,
        "annotations": {},
        "date_time": date_time,
        "attributes": {},
        **(extra or {}),
    }
    utterance = NewUtterance(
        utt_id=opening.utt_id,
        by_bot=False,
        date_time=opening.date_time,
        body=plain.encode(question),
        user_version=(human or opened.human).number,
        hypotheses=None if hypotheses is None else plain.encode(hypotheses),
    )
    answered = NewUtterance(
        utt_id=opening.bot_utt_id,
        by_bot=True,
        date_time=date_time,
        body=plain.encode(answer),
        user_version=(bot or opened.bot).number,
        active_skill=skill,
    )
    finished = TurnClosing(
        opened=opened,
        utterances=[utterance, answered],
        human=human,
        bot=bot,
        messages=[a_message(reply)],
        outcome=plain.encode({"response": reply}),
    )
    return msgspec.structs.replace(finished, **changes)


def a_new_dialog(attributes: bytes = b"{}") -> NewDialog:
    """Make the ids of a new person and dialog."""
    return NewDialog(
        human_id=ids.new_id(),
        dialog_id=ids.DialogId(ids.new_id()),
        id=ids.new_id(),
        bot_id=ids.new_id(),
        attributes=attributes,
    )


def a_message(text: str) -> bytes:
    """Make a text message of the assistant."""
    return plain.encode({"type": "text", "text": text})


def an_entry(user: str = "ann", key: str = "k", due: float = 10.0, **changes: Any) -> AgendaEntry:
    """Make an entry of the agenda; `changes` are other fields of `AgendaEntry`."""
    entry = AgendaEntry(user=user, skill="timer", key=key, due=due, body=b'{"ring":1}')
    return msgspec.structs.replace(entry, **changes)


def a_delivery(user: str, *texts: str, **changes: Any) -> Delivery:
    """Make a delivery of these texts; `changes` are other fields of `Delivery`."""
    delivery = Delivery(
        user=user,
        messages=[a_message(text) for text in texts],
        date_time=ids.timestamp(),
        new_dialog=a_new_dialog(),
    )
    return msgspec.structs.replace(delivery, **changes)


async def open_new_turn(
    store: TurnStore, user: str = "ann", text: str = "hi", **changes: Any
) -> OpenedTurn:
    """Open a turn, which must be new."""
    opened = await store.open_turn(an_opening(user, text, **changes))
    assert isinstance(opened, OpenedTurn)
    return opened


async def talk(store: TurnStore, user: str, *texts: str, **ending: Any) -> list[OpenedTurn]:
    """Store a turn for each text, with the reply `re: TEXT`; return the opened turns."""
    turns = []
    for text in texts:
        opened = await open_new_turn(store, user, text)
        await store.close_turn(a_closing(opened, f"re: {text}", **ending))
        turns.append(opened)
    return turns


def _further(
    version: ProfileVersion, attributes: dict[str, Any] | None
) -> NewProfileVersion | None:
    if attributes is None:
        return None
    changes: list[Change] = [["attributes", key, value] for key, value in attributes.items()]
    state = plain.decode(version.state)
    apply_changes(state, changes)
    return NewProfileVersion(number=version.number + 1, state=plain.encode(state), changes=changes)


def find_record_store(store: Store) -> TurnRecordStore:
    """Return the store of records beside a store."""
    assert isinstance(store, KeepsTurnRecords)
    return store.turn_records


async def found(store: Store, query: ConversationQuery = ALL) -> list[DialogSummary]:
    """Return all matching dialogs, once the words of all turns are indexed."""
    await wait_until_indexed(store)
    return (await find_record_store(store).conversations(query, None, 100)).items


async def wait_until_indexed(store: Store) -> None:
    """Wait until the words of all turns can be searched."""
    while await find_record_store(store).tend(now=0.0, keep=DAY, most=1000):
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
    await find_record_store(store).add([made], slow=SLOW)
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
    """Make the record of a turn with a single asked agent."""
    opening = opened.opening
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
        turn_id=opening.turn_id,
        dialog_id=opened.dialog_id,
        user=opening.user,
        channel=opening.channel_type,
        started=time.time() if at is None else at,
        seconds=seconds,
        attempt=1,
        text=opening.text,
        response="hi",
        active_skill=skill if won else "",
        confidence=0.5,
        by=by,
        chosen=[f"{skill}.0"] if won else [],
        asked=[skill],
        services=[service],
        hypotheses=[],
        faults=[{"service": skill, "what": "it mumbled"}],
        utt_id=opening.bot_utt_id,
        reasons=[{"service": "router", "asked": [skill], "reason": "likely"}],
        cost=cost,
        scores={f"{skill}.0": 0.75},
        version={"router": "r-1"},
        changes=[ProfileChange(whose="person", part="attributes", key="city", after="Oslo")],
    )
