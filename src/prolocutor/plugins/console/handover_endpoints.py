"""Handovers: operators take dialogs over, speak in them and give them back."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.dialog.rounds import Handover
from prolocutor.errors import HandoverConflict, NotFound
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.operations import (
    EmptyBody,
    IdempotencyKey,
    Operation,
    OperatorWrite,
    TypedRequest,
)

ONE: Final = f"{BASE}/conversations/{{dialog_id}}"


class OpenDialogPath(msgspec.Struct, frozen=True):
    """The parameters of a request about an active dialog."""

    dialog_id: str


class SpeechParams(OpenDialogPath, frozen=True, kw_only=True):
    """The parameters of a request to say something."""

    idempotency_key: IdempotencyKey = msgspec.field(name="Idempotency-Key", default=None)


class OperatorWords(msgspec.Struct, frozen=True):
    """The operator's words to the person."""

    text: Annotated[str, Meta(min_length=1)]


class GiveBack(msgspec.Struct, frozen=True):
    """A note for services, which see it in `attributes.handover` of the utterance."""

    note: str = ""


class HandoverState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a handover: taken `by` an operator, or waiting for one.

    `since` is in UNIX seconds.
    """

    state: Literal["waits", "taken"]
    by: str
    since: float
    reason: str


class ConversationHandover(msgspec.Struct, frozen=True):
    """The holder of a dialog; null if the assistant has it and no person is wanted."""

    dialog_id: str
    handover: HandoverState | None


class ListedHandover(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog waiting for an operator or taken over by an operator."""

    dialog_id: str
    user: str
    dialog: str
    handover: HandoverState


class HandoverList(msgspec.Struct, frozen=True):
    """The waiting and taken over dialogs, the longest first."""

    items: list[ListedHandover]


class HandoverEndpoints:
    """The actions of operators on dialogs: take them over, speak in them, give them back."""

    def __init__(self, assistant: Assistant) -> None:
        self._desk = assistant.desk
        errors = (NotFound, HandoverConflict)
        listed = Operation(self.list_handovers)
        shown = Operation(self.show_handover, errors=[NotFound])
        take = OperatorWrite(self.take_over, errors=errors)
        say = OperatorWrite(self.say, errors=errors)
        give = OperatorWrite(self.give_back, errors=errors)
        self.routes: list[Route] = [
            Route("GET", f"{BASE}/handovers", listed, "operators"),
            Route("GET", f"{ONE}/handover", shown, "operators"),
            Route("POST", f"{ONE}/take", take, "operators"),
            Route("POST", f"{ONE}/say", say, "operators"),
            Route("POST", f"{ONE}/give", give, "operators"),
        ]

    async def list_handovers(self, request: TypedRequest[None, None]) -> HandoverList:
        """List the waiting and taken over dialogs."""
        return HandoverList(
            [
                ListedHandover(
                    dialog_id=one.dialog_id,
                    user=one.user,
                    dialog=one.dialog,
                    handover=handover_state(one.handover),
                )
                for one in await self._desk.list_handovers()
            ]
        )

    async def show_handover(
        self, request: TypedRequest[OpenDialogPath, None]
    ) -> ConversationHandover:
        """Show the holder of a dialog."""
        user, dialog = await self._desk.find(request.params.dialog_id)
        return await self._show_handover(request.params.dialog_id, user, dialog)

    async def take_over(
        self, request: TypedRequest[OpenDialogPath, EmptyBody]
    ) -> ConversationHandover:
        """Take a dialog over: no service is asked from the next input on."""
        user, dialog = await self._desk.find(request.params.dialog_id)
        await self._desk.take(user, dialog, by=request.visitor.name)
        return await self._show_handover(request.params.dialog_id, user, dialog)

    async def say(self, request: TypedRequest[SpeechParams, OperatorWords]) -> ConversationHandover:
        """Say something to the person of a taken over dialog."""
        params = request.params
        user, dialog = await self._desk.find(params.dialog_id)
        await self._desk.say(
            request.body.text,
            user,
            dialog,
            by=request.visitor.name,
            request_id=params.idempotency_key,
        )
        return await self._show_handover(params.dialog_id, user, dialog)

    async def give_back(
        self, request: TypedRequest[OpenDialogPath, GiveBack]
    ) -> ConversationHandover:
        """Return a dialog to the assistant."""
        user, dialog = await self._desk.find(request.params.dialog_id)
        await self._desk.give(user, dialog, by=request.visitor.name, note=request.body.note)
        return await self._show_handover(request.params.dialog_id, user, dialog)

    async def _show_handover(self, dialog_id: str, user: str, dialog: str) -> ConversationHandover:
        now = await self._desk.handover(user, dialog)
        return ConversationHandover(dialog_id, None if now is None else handover_state(now))


def handover_state(now: Handover) -> HandoverState:
    """Return the view of a handover."""
    state: Literal["waits", "taken"] = "taken" if now.by else "waits"
    return HandoverState(state=state, by=now.by, since=now.since, reason=now.reason)
