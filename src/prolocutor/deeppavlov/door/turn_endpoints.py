"""Turns through this door: one request one turn, or one socket many."""

from __future__ import annotations

from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.channel import HttpRequest, HttpResponse, Visitor, WebSocket
from prolocutor.deeppavlov.door.speakers import speaker
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.utterances import HumanUtterance
from prolocutor.errors import BadInput
from prolocutor.web.error_table import error_response
from prolocutor.web.requests import json_object, parse_object

COMMANDS: Final = ("/start", "/close")
"""Payloads that end the dialog instead of being answered."""

MAX_KEY: Final = 255


class TurnEndpoints:
    """Lets people talk to the assistant."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def post(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /`."""
        said = await json_object(request)
        key = request.header("idempotency-key")
        if key is not None and not 0 < len(key) <= MAX_KEY:
            what = f"a key has 1 to {MAX_KEY} characters"
            raise BadInput(what, field="Idempotency-Key")
        return HttpResponse(await self._answer(said, request.visitor, "http_client", key) or b"{}")

    async def chat(self, socket: WebSocket) -> None:
        """Answer one message of a socket after the other; errors do not close it."""
        async for message in socket:
            try:
                said = parse_object(message)
                answer = await self._answer(said, socket.visitor, "ws_client", None)
            except Exception as error:
                answer = error_response(error).encoded()
            socket.send((answer or b'"command_performed"').decode())

    async def _answer(
        self, said: dict[str, Any], visitor: Visitor, channel: str, key: str | None
    ) -> bytes | None:
        """Return the reply to what was said as JSON; None if it was a command."""
        user = speaker(visitor, said.pop("user_id", None))
        payload = said.pop("payload", None)
        if payload is None:
            payload = ""
        elif not isinstance(payload, str):
            raise BadInput("payload should be a text", field="payload")
        if payload in COMMANDS:
            await self._assistant.close_dialog(user)
            return None
        said.pop("user_device_type", None)
        said.pop("location", None)
        result = await self._assistant.turn(
            payload, user=user, attributes=said, request_id=key, channel=channel
        )
        state = result.state
        reply = {
            "dialog_id": result.dialog_id,
            "utt_id": state["utt_id"],
            "user_id": user,
            "response": said_as_text(state),
            "attributes": state["attributes"],
            "active_skill": state["active_skill"],
        }
        if said.get("debug_output") is True:
            reply["debug_output"] = await self._debug_output(result)
        return plain.encode(reply)

    async def _debug_output(self, result: TurnResult) -> dict[str, Any]:
        """Return what was known of the human utterance; of a repeated reply, what is stored."""
        if not result.repeated:
            return {"hypotheses": result.hypotheses, "annotations": result.annotations}
        dialog = await self._assistant.store.dialog(result.dialog_id)
        for utterance in dialog.utterances if dialog is not None else ():
            if utterance.utt_id == result.human_utt_id and isinstance(utterance, HumanUtterance):
                state = agent_state.human_utterance_to_state(utterance)
                return {key: state[key] for key in ("hypotheses", "annotations")}
        return {"hypotheses": [], "annotations": {}}
