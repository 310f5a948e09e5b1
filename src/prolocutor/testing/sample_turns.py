"""Turns to try a store with: beginnings, what they end in, and what is said unasked."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from prolocutor.contracts.store import (
    Beginning,
    Begun,
    Delivery,
    Entry,
    Finished,
    NewVersion,
    Spoken,
    TurnStore,
    Version,
)
from prolocutor.dialog import ids, plain
from prolocutor.dialog.profiles import Change, apply_changes


def a_beginning(user: str = "ann", text: str = "hi", **changes: Any) -> Beginning:
    """Make what a person says; `changes` are other fields of `Beginning`."""
    beginning = Beginning(
        turn_id=ids.new_id(),
        user=user,
        dialog_name="main",
        channel_type="kit",
        utt_id=ids.new_id(),
        bot_utt_id=ids.new_id(),
        date_time=ids.timestamp(),
        started=time.time(),
        text=text,
        attributes=b"{}",
        message=plain.encode({"type": "command", "command": text}),
        new_human_id=ids.new_id(),
        new_dialog_id=ids.new_id(),
        new_id=ids.new_id(),
        new_bot_id=ids.new_id(),
    )
    return msgspec.structs.replace(beginning, **changes)


def an_ending(
    begun: Begun,
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
) -> Finished:
    """Make what a turn ends in: both utterances, new versions of profiles, one message.

    `changes` are other fields of `Finished`.
    """
    beginning = begun.beginning
    human = _further(begun.human, human_attributes)
    bot = _further(begun.bot, bot_attributes)
    date_time = at or ids.timestamp()
    question = {
        "utt_id": beginning.utt_id,
        "text": beginning.text,
        "annotations": annotations or {},
        "date_time": beginning.date_time,
        "attributes": plain.decode(beginning.attributes),
        **(extra or {}),
    }
    answer = {
        "utt_id": beginning.bot_utt_id,
        "text": reply,
        "orig_text": reply,
        "active_skill": skill,
        "confidence": 0.5,
        "annotations": {},
        "date_time": date_time,
        "attributes": {},
        **(extra or {}),
    }
    asked = Spoken(
        utt_id=beginning.utt_id,
        by_bot=False,
        date_time=beginning.date_time,
        body=plain.encode(question),
        user_version=(human or begun.human).number,
        hypotheses=None if hypotheses is None else plain.encode(hypotheses),
    )
    answered = Spoken(
        utt_id=beginning.bot_utt_id,
        by_bot=True,
        date_time=date_time,
        body=plain.encode(answer),
        user_version=(bot or begun.bot).number,
        active_skill=skill,
    )
    finished = Finished(
        begun=begun,
        utterances=[asked, answered],
        human=human,
        bot=bot,
        messages=[a_message(reply)],
        outcome=plain.encode({"response": reply}),
    )
    return msgspec.structs.replace(finished, **changes)


def a_message(text: str) -> bytes:
    """Make a text message of the assistant."""
    return plain.encode({"type": "text", "text": text})


def an_entry(user: str = "ann", key: str = "k", due: float = 10.0, **changes: Any) -> Entry:
    """Make an entry of the agenda; `changes` are other fields of `Entry`."""
    entry = Entry(user=user, skill="timer", key=key, due=due, body=b'{"ring":1}')
    return msgspec.structs.replace(entry, **changes)


def a_delivery(user: str, *texts: str, **changes: Any) -> Delivery:
    """Make what the assistant says unasked; `changes` are other fields of `Delivery`."""
    delivery = Delivery(
        user=user,
        messages=[a_message(text) for text in texts],
        date_time=ids.timestamp(),
        new_human_id=ids.new_id(),
        new_dialog_id=ids.new_id(),
        new_id=ids.new_id(),
        new_bot_id=ids.new_id(),
    )
    return msgspec.structs.replace(delivery, **changes)


async def begin(store: TurnStore, user: str = "ann", text: str = "hi", **changes: Any) -> Begun:
    """Begin a turn that is sure to be new."""
    begun = await store.begin(a_beginning(user, text, **changes))
    assert isinstance(begun, Begun)
    return begun


async def talk(store: TurnStore, user: str, *texts: str, **ending: Any) -> list[Begun]:
    """Have a person say these things, each answered by `re: ...`; give how the turns began."""
    turns = []
    for text in texts:
        begun = await begin(store, user, text)
        await store.finish(an_ending(begun, f"re: {text}", **ending))
        turns.append(begun)
    return turns


def _further(version: Version, attributes: dict[str, Any] | None) -> NewVersion | None:
    if attributes is None:
        return None
    changes: list[Change] = [["attributes", key, value] for key, value in attributes.items()]
    state = plain.decode(version.state)
    apply_changes(state, changes)
    return NewVersion(number=version.number + 1, state=plain.encode(state), changes=changes)
