"""Turns through this door: one request for one turn, or one WebSocket for many."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.http import Visitor
from prolocutor.contracts.websocket import WebSocket
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.utterances import HumanUtterance
from prolocutor.doors.http.messages import (
    DebugOutput,
    EmptyReply,
    SayParams,
    SayReply,
    SayRequest,
)
from prolocutor.doors.http.speakers import as_text, speaker
from prolocutor.errors import BadInput
from prolocutor.web.decoding import JsonReader
from prolocutor.web.error_table import error_response
from prolocutor.web.operations import TypedRequest

COMMANDS: Final = ("/start", "/close")
"""Payloads that end the dialog instead of being answered."""


class TurnEndpoints:
    """The endpoints for talking to the assistant."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def say(self, request: TypedRequest[SayParams, SayRequest]) -> SayReply | EmptyReply:
        """Say something and get the reply."""
        key, skill = request.params.idempotency_key, request.params.skill
        said, visitor = request.body, request.visitor
        return await self._answer(said, visitor, "http_client", key, skill) or EmptyReply()

    async def chat(self, socket: WebSocket) -> None:
        """Say something with each message, and get a reply each; errors do not close the socket."""
        async for message in socket:
            try:
                said = _MESSAGES.read(message)
                skill = socket.query("skill")
                reply = await self._answer(said, socket.visitor, "ws_client", None, skill)
                answer = plain.encode(reply or "command_performed")
            except Exception as error:
                answer = error_response(error).encoded()
            socket.send(answer.decode())

    async def _answer(
        self, said: SayRequest, visitor: Visitor, channel: str, key: str | None, skill: str | None
    ) -> SayReply | None:
        """Return the reply to what was said, of one skill alone if named; None for a command."""
        user = speaker(visitor, said.user_id)
        text = "" if said.payload is None else as_text(said.payload)
        if text in COMMANDS:
            await self._assistant.archive.close(user)
            return None
        try:
            input = TurnInput(
                text,
                user,
                attributes=said.attributes(),
                request_id=key,
                channel=channel,
                skill=skill,
            )
            result = await self._assistant.turn(input)
        except BadInput as error:
            if error.field == "text":
                error.field = "payload"
            raise
        spoken = _SPOKEN.decode(result.reply_state)
        reply = SayReply(
            dialog_id=result.dialog_id,
            utt_id=spoken.utt_id,
            user_id=user,
            response=_as_text(spoken),
            attributes=spoken.attributes,
            active_skill=spoken.active_skill,
        )
        if said.debug_output is not UNSET and said.debug_output:
            reply.debug_output = await self._debug_output(result)
        return reply

    async def _debug_output(self, result: TurnResult) -> DebugOutput:
        """Return what was known of the human utterance; of a repeated reply, what is stored."""
        if not result.repeated:
            return DebugOutput(result.hypotheses, result.annotations)
        dialog = await self._assistant.store.dialog(result.dialog_id)
        for utterance in dialog.utterances if dialog is not None else ():
            if utterance.utt_id == result.human_utt_id and isinstance(utterance, HumanUtterance):
                state = agent_state.human_utterance_to_state(utterance)
                return DebugOutput(state["hypotheses"], state["annotations"])
        return DebugOutput()


class _Spoken(msgspec.Struct):
    """What the reply shows of a bot utterance in agent state JSON."""

    utt_id: str
    text: str
    active_skill: str
    attributes: msgspec.Raw


def _as_text(spoken: _Spoken) -> str:
    """Return all that was said as text; attributes are read only where there are some."""
    attributes: dict[str, Any] = {}
    if spoken.attributes != _NO_ATTRIBUTES:
        attributes = plain.decode(spoken.attributes)
    return said_as_text({"text": spoken.text, "attributes": attributes})


_NO_ATTRIBUTES: Final = msgspec.Raw(b"{}")
_SPOKEN: Final = msgspec.json.Decoder(_Spoken)
_MESSAGES: Final = JsonReader(SayRequest)
