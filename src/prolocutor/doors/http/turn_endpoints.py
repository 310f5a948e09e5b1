"""Turns through this door: one request for one turn, or one WebSocket for many."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.http import Visitor
from prolocutor.contracts.websocket import WebSocket
from prolocutor.dialog import agent_state
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
from prolocutor.web.decoding import JsonReader
from prolocutor.web.error_table import text_in
from prolocutor.web.event_writing import answered
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
            socket.send(await answered(self._answer_message(message, socket)))

    async def _answer_message(self, message: str | bytes, socket: WebSocket) -> SayReply | str:
        said, skill = _MESSAGES.read(message), socket.query("skill")
        reply = await self._answer(said, socket.visitor, "ws_client", None, skill)
        return reply or "command_performed"

    async def _answer(
        self, said: SayRequest, visitor: Visitor, channel: str, key: str | None, skill: str | None
    ) -> SayReply | None:
        """Return the reply to what was said, of one skill alone if named; None for a command."""
        user = speaker(visitor, said.user_id)
        text = "" if said.payload is None else as_text(said.payload)
        if text in COMMANDS:
            await self._assistant.archive.close(user)
            return None
        input = TurnInput(
            text,
            user,
            attributes=said.attributes(),
            request_id=key,
            channel=channel,
            skill=skill,
        )
        with text_in("payload"):
            result = await self._assistant.turn(input)
        spoken = result.spoken
        reply = SayReply(
            dialog_id=result.dialog_id,
            utt_id=spoken.utt_id,
            user_id=user if said.user_id is None else said.user_id,
            response=said_as_text(spoken.text, spoken.attributes),
            attributes=spoken.attributes,
            active_skill=spoken.active_skill,
        )
        if said.debug_output is not UNSET and said.debug_output:
            reply.debug_output = await self._debug_output(result)
        return reply

    async def _debug_output(self, result: TurnResult) -> DebugOutput:
        """Return what was known of the human utterance; of a repeated reply, what is stored."""
        if not result.repeated:
            return DebugOutput(result.hypothesis_states, result.annotations)
        dialog = await self._assistant.store.dialog(result.dialog_id)
        for utterance in dialog.utterances if dialog is not None else ():
            if utterance.utt_id == result.human_utt_id and isinstance(utterance, HumanUtterance):
                state = agent_state.human_utterance_to_state(utterance)
                return DebugOutput(state["hypotheses"], state["annotations"])
        return DebugOutput()


_MESSAGES: Final = JsonReader(SayRequest)
