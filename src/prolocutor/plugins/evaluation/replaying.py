"""Replaying: the inputs of stored dialogs are sent to a changed assistant, and replies compared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Final, Literal

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import BackgroundTasks
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.ids import new_id
from prolocutor.errors import ProlocutorError

Change = Literal["same", "text", "skill", "both", "failed"]

CHANGES: Final = ("same", "text", "skill", "both", "failed")
"""Changes of a reply: none, its text, its skill, both; or there is no reply now."""


class ComparedReply(msgspec.Struct, frozen=True):
    """A reply: its text, the skill that gave it, its confidence."""

    text: str
    skill: str
    confidence: float


class ReplayedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A human utterance, sent again. `before` is None for an unanswered utterance."""

    dialog: str
    turn: int
    said: str
    before: ComparedReply | None
    after: ComparedReply | None
    change: Change
    error: str | None = None


class Replay:
    """Sends dialogs again, each as a new user, several at once."""

    def __init__(self, assistant: Assistant, *, concurrency: int = 1) -> None:
        self._assistant = assistant
        self._concurrency = concurrency

    async def turns(self, dialogs: AsyncIterator[Dialog]) -> AsyncIterator[list[ReplayedTurn]]:
        """Return the turns of each dialog, in the dialogs' order."""
        tasks = BackgroundTasks("replayed dialog")
        running: list[asyncio.Task[list[ReplayedTurn]]] = []
        try:
            async for dialog in dialogs:
                running.append(tasks.start(self._dialog(dialog), awaited=True))
                if len(running) >= self._concurrency:
                    yield await running.pop(0)
            while running:
                yield await running.pop(0)
        finally:
            await tasks.aclose()

    async def _dialog(self, dialog: Dialog) -> list[ReplayedTurn]:
        user = f"replay-{new_id()}"
        return [
            await self._turn(dialog, turn, user, said, before)
            for turn, (said, before) in enumerate(exchanges(dialog))
        ]

    async def _turn(
        self,
        dialog: Dialog,
        turn: int,
        user: str,
        said: HumanUtterance,
        before: ComparedReply | None,
    ) -> ReplayedTurn:
        after, error = None, None
        try:
            reply = await self._assistant.reply(said.text, user, attributes=said.attributes)
            after = _compared_reply(reply)
        except ProlocutorError as fault:
            error = f"{type(fault).__name__}: {fault}"
        return ReplayedTurn(
            dialog=dialog.dialog_id,
            turn=turn,
            said=said.text,
            before=before,
            after=after,
            change=find_change(before, after),
            error=error,
        )


def exchanges(dialog: Dialog) -> Iterator[tuple[HumanUtterance, ComparedReply | None]]:
    """Return each human utterance with the bot utterance right after it."""
    for position, utterance in enumerate(dialog.utterances):
        if isinstance(utterance, HumanUtterance):
            following = dialog.utterances[position + 1 : position + 2]
            reply = next((one for one in following if isinstance(one, BotUtterance)), None)
            yield utterance, _compared_reply(reply) if reply is not None else None


def find_change(before: ComparedReply | None, after: ComparedReply | None) -> Change:
    """Return the change of a reply."""
    if after is None:
        return "failed"
    if before is None:
        return "both"
    if before.text == after.text:
        return "same" if before.skill == after.skill else "skill"
    return "text" if before.skill == after.skill else "both"


def _compared_reply(reply: BotUtterance) -> ComparedReply:
    return ComparedReply(reply.text, reply.active_skill, reply.confidence)
