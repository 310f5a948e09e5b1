"""LoneTalk: an operator talks to a single agent, at the end of a dialog or without a dialog."""

from __future__ import annotations

import time
from typing import Final

from prolocutor.assistant.turns import check_words
from prolocutor.contracts.store import (
    NewDialog,
    OpenedTurn,
    ProfileVersion,
    Store,
    TurnOpening,
    UtteranceParts,
)
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.ids import DialogId, TurnId, UtteranceId, format_time, new_ids
from prolocutor.dialog.inputs import TurnInput, TurnStart
from prolocutor.errors import NotFound
from prolocutor.pipeline.engine import Engine, LoneAnswer, ask_alone
from prolocutor.plan.pipeline import Stage

STRANGER: Final = "console:alone"
"""The user whom an agent sees where it is talked to outside of any dialog."""


class LoneTalk:
    """Asks an agent in a turn that is neither stored nor recorded nor counted."""

    def __init__(self, store: Store, engine: Engine, max_text: int) -> None:
        self._store = store
        self._engine = engine
        self._max_text = max_text

    async def ask(
        self, text: str, agent: str, *, stage: Stage | None = None, dialog_id: str | None = None
    ) -> LoneAnswer:
        """Return an agent's reply to a text, at the end of a dialog.

        Raise `NotFound` for an unknown agent or dialog.
        """
        step = self._engine.find_step(agent, stage)
        check_words(text, self._max_text)
        input = TurnInput(text, STRANGER, channel="console")
        opened = _new_dialog(input)
        if dialog_id is not None:
            dialog = await self._store.dialog(dialog_id)
            if dialog is None:
                raise NotFound(f"no dialog has the id {dialog_id!s:.80}", field="dialog_id")
            opened = _next_turn(dialog, opened, self._engine.prepared.window)
        return await ask_alone(self._engine.prepared, step, opened, TurnStart(input=input))


def _new_dialog(input: TurnInput) -> OpenedTurn:
    """Return the first turn of an unstored dialog."""
    now = time.time()
    turn_id, utt_id, bot_utt_id, human_id, dialog_id, id_, bot_id = new_ids(7)
    opening = TurnOpening(
        turn_id=TurnId(turn_id),
        user=input.user,
        dialog_name=input.dialog,
        channel_type=input.channel,
        utt_id=UtteranceId(utt_id),
        bot_utt_id=UtteranceId(bot_utt_id),
        date_time=format_time(now),
        started=now,
        text=input.text,
        attributes=plain.encode(input.attributes),
        message=b"{}",
        new_dialog=NewDialog(
            human_id=human_id, dialog_id=DialogId(dialog_id), id=id_, bot_id=bot_id
        ),
    )
    return OpenedTurn(
        opening=opening,
        dialog_id=DialogId(dialog_id),
        id=id_,
        date_start=opening.date_time,
        dialog_attributes=b"{}",
        rating=b"null",
        human=ProfileVersion(1, agent_state.new_human(human_id, STRANGER)),
        bot=ProfileVersion(1, agent_state.new_bot(bot_id)),
        window=[],
        length=0,
        feed=0,
        feed_id=0,
    )


def _next_turn(dialog: Dialog, opened: OpenedTurn, window: int | None) -> OpenedTurn:
    """Return the next turn of a dialog, without any trace in the dialog."""
    utterances = dialog.utterances
    opened.dialog_id, opened.id = DialogId(dialog.dialog_id), dialog.id
    opened.date_start = dialog.date_start or opened.date_start
    opened.dialog_attributes = plain.encode(dialog.attributes)
    opened.rating = plain.encode(dialog.rating)
    opened.human.state = plain.encode(agent_state.human_to_state(dialog.human))
    opened.bot.state = plain.encode(agent_state.bot_to_state(dialog.bot))
    opened.window = [
        _parts(one) for one in (utterances if window is None else utterances[-window:])
    ]
    opened.length = len(utterances)
    opened.active_skills = [one.active_skill for one in utterances if isinstance(one, BotUtterance)]
    return opened


def _parts(utterance: HumanUtterance | BotUtterance) -> UtteranceParts:
    if isinstance(utterance, BotUtterance):
        state = agent_state.bot_utterance_to_state(utterance)
        hypotheses = []
    else:
        state = agent_state.human_utterance_to_state(utterance)
        hypotheses = state.pop("hypotheses")
    user = plain.encode(state.pop("user"))
    by_bot = isinstance(utterance, BotUtterance)
    return UtteranceParts(by_bot, plain.encode(state), user, plain.encode(hypotheses))
