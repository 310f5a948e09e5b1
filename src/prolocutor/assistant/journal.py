"""The journal: words are durable before anything runs, a reply is stored before it is spoken."""

from __future__ import annotations

import hashlib
import logging
import time
from typing import Any

from prolocutor.assistant.feed import human_message, reply_messages
from prolocutor.assistant.rounds.effects import TurnEffects
from prolocutor.assistant.rounds.secrets import Secrets, masked
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.store import (
    AnsweredRequest,
    NewDialog,
    OpenedTurn,
    TurnClosing,
    TurnOpening,
    TurnStore,
)
from prolocutor.dialog import plain
from prolocutor.dialog.ids import DialogId, TurnId, UtteranceId, format_time, new_ids
from prolocutor.dialog.inputs import Input
from prolocutor.errors import StoreError
from prolocutor.pipeline.draft import DraftReply
from prolocutor.pipeline.turn import Turn

log = logging.getLogger(__name__)

INTERRUPTED = {"interrupted": True}
"""Attributes of a reply that closes a turn which was cut off and not run again."""


class Journal:
    """Begins and finishes turns in the store; what could not be stored is owed and tried again."""

    def __init__(
        self,
        store: TurnStore,
        *,
        secrets: Secrets,
        window: int | None,
        hypotheses: int,
        services: list[str],
    ) -> None:
        self._store = store
        self._window = window
        self._hypotheses = hypotheses
        self.new_dialog_attributes = plain.encode({"pipeline": services})
        self._secrets = secrets
        self._owed: dict[str, TurnClosing] = {}

    async def begin(
        self, input: Input, *, user: str, dialog: str, channel: str, request_id: str | None
    ) -> OpenedTurn | AnsweredRequest:
        """Write down what was said; a turn owed from before is stored first.

        A password is written down for a second run alone, until the turn has ended.
        """
        await self.pay(user)
        shown = input
        if secret := await self._secrets.is_secret(user, dialog, input):
            shown = masked(input)
        turn_id, utt_id, bot_utt_id, human_id, dialog_id, id_, bot_id = new_ids(7)
        started = time.time()
        attributes = plain.encode(input.attributes)
        start = _start_of(input)
        came = attributes if start == b"{}" else attributes + start
        opened = await self._store.open_turn(
            TurnOpening(
                turn_id=TurnId(turn_id),
                user=user,
                dialog_name=dialog,
                channel_type=channel,
                utt_id=UtteranceId(utt_id),
                bot_utt_id=UtteranceId(bot_utt_id),
                date_time=format_time(started),
                started=started,
                text=shown.text,
                attributes=attributes,
                message=human_message(shown.text, shown.parsed),
                start=_start_of(input, secret=True) if secret else start,
                request_key=request_id,
                request_hash=(request_id and _digest(input.text, came, dialog)) or None,
                window=self._window,
                hypotheses=self._hypotheses,
                new_dialog=NewDialog(
                    human_id=human_id,
                    dialog_id=DialogId(dialog_id),
                    id=id_,
                    bot_id=bot_id,
                    attributes=self.new_dialog_attributes,
                ),
            )
        )
        if isinstance(opened, AnsweredRequest) and opened.reply is None:
            return await self.resume(opened.turn_id)
        return opened

    async def resume(self, turn_id: TurnId) -> OpenedTurn:
        """Count one more attempt at a turn that was cut off, and give what it starts from."""
        return await self._store.resume_turn(turn_id, self._window, self._hypotheses)

    async def finish(self, turn: Turn, sequel: TurnEffects) -> TurnResult:
        """Store all that a turn added, and what follows from it; then it may be spoken."""
        draft = turn.draft
        opened, reply = draft.begun, draft.spoken()
        said = opened.opening
        result = TurnResult(
            turn_id=said.turn_id,
            dialog_id=opened.dialog_id,
            human_utt_id=said.utt_id,
            user=said.user,
            n=opened.feed,
            waiting=sequel.waiting,
            reply_state=draft.reply_state(),
            turn=turn,
        )
        finished = TurnClosing(
            opened=opened,
            utterances=draft.utterances(),
            human=draft.human,
            bot=draft.bot,
            messages=_rows(reply, said.bot_utt_id),
            outcome=result.outcome() if said.request_key is not None else b"",
            closing=sequel.closing,
            round=sequel.round,
            entries=sequel.entries,
            struck=sequel.struck,
        )
        try:
            await self._store.close_turn(finished)
        except StoreError:
            self._owed[said.user] = finished
            self._secrets.forget(said.user)
            raise
        self._secrets.note(said.user, said.dialog_name, sequel.waiting)
        return result

    async def settle_debts(self) -> None:
        """Try once more to store what is owed."""
        for user in list(self._owed):
            try:
                await self.pay(user)
            except StoreError as error:
                log.error("the last turn of a person could not be stored: %s", error)

    def forget(self, user: str) -> None:
        """Owe nothing more to a person who is going to be deleted."""
        self._owed.pop(user, None)

    async def pay(self, user: str) -> None:
        """Store the turn that is owed to a person, if there is one."""
        if self._owed and user in self._owed:
            await self._store.close_turn(self._owed[user])
            del self._owed[user]


def input_of(opened: OpenedTurn) -> Input:
    """Return what a person sent to begin a turn."""
    said = opened.opening
    came: dict[str, Any] = {} if said.start == b"{}" else plain.decode(said.start)
    return Input(attributes=plain.decode(said.attributes), **{"text": said.text, **came})


def _start_of(input: Input, *, secret: bool = False) -> bytes:
    """Return what a second run needs to know of an input beside its words; of a secret, these
    too."""
    if input.parsed is None and input.program is None and not secret:
        return b"{}"
    text = input.text if secret else None
    came = {"text": text, "parsed": input.parsed, "program": input.program}
    return plain.encode({key: value for key, value in came.items() if value is not None})


def _rows(reply: DraftReply, utt_id: str) -> list[bytes]:
    """Return the feed's rows for a reply; none if it is not to be spoken."""
    if reply.silent:
        return []
    return reply_messages(reply.text, {"messages": reply.messages}, reply.active_skill, utt_id)


def _digest(text: str, came: bytes, dialog: str) -> bytes:
    parts = plain.encode([text, dialog]) + came
    return hashlib.blake2b(parts, digest_size=16).digest()
