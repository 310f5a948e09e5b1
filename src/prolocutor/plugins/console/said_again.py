"""A stored turn is run again: its input, after the earlier turns; nothing is stored."""

from __future__ import annotations

import time
from collections.abc import Sequence
from time import monotonic
from typing import Any

import msgspec

from prolocutor.assistant.turn_record import make_record
from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store import (
    NewDialog,
    NewUtterance,
    OpenedTurn,
    ProfileVersion,
    TurnOpening,
    UtteranceParts,
)
from prolocutor.dialog import agent_state, ids, plain
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.inputs import TurnInput, TurnStart
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadInput
from prolocutor.pipeline.engine import Engine

Utterance = HumanUtterance | BotUtterance


class TurnRunAgain(msgspec.Struct, frozen=True):
    """The result of a repeated turn: its record, and both utterances."""

    record: TurnRecord
    utterances: list[Utterance]


async def run_again(
    engine: Engine, dialog: Dialog, utt_id: str, was: TurnRecord | None
) -> TurnRunAgain:
    """Run the turn whose reply has this id on an engine; `was` is its record, if it is kept.

    The agents are called under new ids, except agents with `rerun: false`. No ask is open, and
    nothing is scheduled. Raise `BadInput` if the person said nothing in the turn.
    """
    place = [one.utt_id for one in dialog.utterances].index(utt_id)
    said = dialog.utterances[place - 1] if place else None
    if not isinstance(said, HumanUtterance):
        raise BadInput("nobody asked anything in this turn: it cannot be run again")
    reply = dialog.utterances[place]
    assert isinstance(reply, BotUtterance)
    opened = _rebuild_opening(engine, dialog, place - 1, said, reply, was)
    attributes = _drop_ratings(said.attributes)
    input = TurnInput(said.text, dialog.human.user_external_id, attributes=attributes)
    start = TurnStart(input=input)
    began = monotonic()
    turn = await engine.run(opened, start, began)
    human, _ = turn.view.utterances()
    states = (
        agent_state.human_utterance(human.body, opened.human.state, _hypotheses(human)),
        turn.view.reply_state(),
    )
    return TurnRunAgain(
        make_record(turn, monotonic() - began),
        [agent_state.utterance_from_state(plain.decode(state)) for state in states],
    )


def _rebuild_opening(
    engine: Engine,
    dialog: Dialog,
    place: int,
    said: HumanUtterance,
    reply: BotUtterance,
    was: TurnRecord | None,
) -> OpenedTurn:
    """Return the opening of the turn, as the store would have returned it at the time."""
    prepared = engine.prepared
    before: Sequence[Utterance] = dialog.utterances[:place]
    window = [_parts(one) for one in before]
    if prepared.window is not None:
        window = window[max(0, len(window) - prepared.window) :]
    now = time.time()
    human = agent_state.human_to_state(said.user)
    bot = agent_state.bot_to_state(reply.user)
    if was is not None:
        if prepared.user_snapshot != "before":
            _undo(human, was, "person")
        _undo(bot, was, "bot")
    text = plain.encode(said.text)
    attributes = plain.encode(_drop_ratings(said.attributes))
    return OpenedTurn(
        opening=TurnOpening(
            turn_id=ids.TurnId(ids.new_id()),
            user=dialog.human.user_external_id,
            dialog_name="main",
            channel_type=dialog.channel_type,
            utt_id=ids.UtteranceId(ids.new_id()),
            bot_utt_id=ids.UtteranceId(ids.new_id()),
            date_time=ids.format_time(now),
            started=now,
            text=said.text,
            encoded_text=text,
            attributes=attributes,
            message=b"{}",
            new_dialog=NewDialog(
                human_id=dialog.human.id,
                dialog_id=ids.DialogId(dialog.dialog_id),
                id=dialog.id,
                bot_id=dialog.bot.id,
            ),
        ),
        dialog_id=ids.DialogId(dialog.dialog_id),
        id=dialog.id,
        date_start=dialog.date_start or "",
        dialog_attributes=plain.encode(dialog.attributes),
        rating=plain.encode(dialog.rating),
        human=ProfileVersion(0, plain.encode(human)),
        bot=ProfileVersion(0, plain.encode(bot)),
        window=window,
        length=place,
        feed=0,
        feed_id=0,
        attempt=2,  # so that agents with `rerun: false` are left out
        active_skills=[one.active_skill for one in before if isinstance(one, BotUtterance)],
    )


def _undo(state: JsonObject, was: TurnRecord, whose: str) -> None:
    """Undo the turn's changes to a profile."""
    for change in was.changes:
        part = state.get(change.part) if change.part else state
        if change.whose != whose or not isinstance(part, dict):
            continue
        if change.before is msgspec.UNSET:
            part.pop(change.key, None)
        else:
            part[change.key] = change.before


def _parts(one: Utterance) -> UtteranceParts:
    if isinstance(one, BotUtterance):
        state = agent_state.bot_utterance_to_state(one)
        user = state.pop("user")
        return UtteranceParts(True, plain.encode(state), plain.encode(user))
    state = agent_state.human_utterance_to_state(one)
    user, hypotheses = state.pop("user"), state.pop("hypotheses")
    return UtteranceParts(False, plain.encode(state), plain.encode(user), plain.encode(hypotheses))


def _hypotheses(utterance: NewUtterance) -> bytes:
    return utterance.hypotheses or b"[]"


def _drop_ratings(attributes: JsonObject) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if key != "ratings"}
