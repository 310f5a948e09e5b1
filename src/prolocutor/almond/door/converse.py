"""The converse API: one HTTP request, one turn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Any, Final

from prolocutor.almond.door import commands
from prolocutor.almond.door.dialects import FIRST, SECOND, Dialect, Frame
from prolocutor.almond.door.speakers import Speaker, expectation, speaker_of
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import Input
from prolocutor.dialog.rendering import plain_text
from prolocutor.errors import BadInput
from prolocutor.web.requests import json_object, json_response

Take = Callable[[Input, Speaker, str | None], Coroutine[Any, Any, TurnResult]]
"""What makes a turn of an input, once for the same key."""

FRESH: Final = "stateless"
MAX_KEY: Final = 255
PAGE: Final = 100


class ConverseEndpoints:
    """Answers Almond's `converse` and Home Assistant's `conversation/process`."""

    def __init__(self, assistant: Assistant, take: Take) -> None:
        self._assistant = assistant
        self._take = take

    async def post(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /api/converse`; `?protocol=2` for the second generation's shape."""
        dialect = dialect_of(request.query("protocol"), FIRST)
        body = await json_object(request)
        command = body.get("command")
        if not isinstance(command, dict):
            raise BadInput("Missing command", field="command")
        key = _key(request)
        speaker = _speaker(request, body.get("conversationId"), key)
        input = commands.read_command(command)
        if commands.is_blank(input):
            messages: list[Frame] = []
            closing = await expectation(self._assistant, speaker)
        else:
            result = await self._take(input, speaker, key)
            messages, closing = await self._said(result, speaker, dialect)
        return json_response(
            {
                "conversationId": speaker.conversation,
                "messages": messages,
                "askSpecial": closing.get("ask"),
            }
        )

    async def process(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /api/conversation/process`, as Home Assistant's conversation API does."""
        body = await json_object(request)
        text = body.get("text")
        if not isinstance(text, str):
            raise BadInput("text is needed, as a text", field="text")
        key = _key(request)
        speaker = _speaker(request, body.get("conversation_id"), key)
        speech = ""
        if text.strip():
            result = await self._take(Input(text=text), speaker, key)
            messages, closing = await self._said(result, speaker, FIRST)
            spoken = [message for message in messages if message["type"] != "result"]
            speech = plain_text(spoken, closing.get("ask"))
        else:
            closing = await expectation(self._assistant, speaker)
        return json_response(
            {
                "response": {
                    "response_type": "action_done",
                    "language": body.get("language") or "en",
                    "data": {"targets": [], "success": [], "failed": []},
                    "speech": {"plain": {"speech": speech, "extra_data": None}},
                },
                "conversation_id": speaker.conversation,
                "continue_conversation": closing.get("ask") is not None,
            }
        )

    async def _said(
        self, result: TurnResult, speaker: Speaker, dialect: Dialect
    ) -> tuple[list[Frame], Frame]:
        """Return the messages of a turn, from the feed, and what the dialog waits for after it."""
        frames, after = [], result.n - 1
        while rows := await self._assistant.store.feed(speaker.user, after, PAGE):
            for row in rows:
                after = row.n
                if row.dialog_name != speaker.dialog:
                    continue
                if (frame := dialect.message(row)) is not None:
                    frames.append(frame)
                if row.closing is not None:
                    return frames, plain.decode(row.closing)
        return frames, await expectation(self._assistant, speaker)


def dialect_of(given: str | None, usual: Dialect) -> Dialect:
    """Return the dialect that `?protocol=` names; `BadInput` for an unknown one."""
    if given in (None, ""):
        return usual
    if given not in _DIALECTS:
        raise BadInput("protocol is 1 or 2", field="protocol")
    return _DIALECTS[given]


def _key(request: HttpRequest) -> str | None:
    key = request.header("idempotency-key")
    if key is not None and not 0 < len(key) <= MAX_KEY:
        raise BadInput(f"a key has 1 to {MAX_KEY} characters", field="Idempotency-Key")
    return key


def _speaker(request: HttpRequest, conversation: Any, key: str | None) -> Speaker:
    """Return who speaks; without an id the same key gives the same new conversation."""
    if key is not None and conversation is None and request.visitor.kind != "anonymous":
        digest = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        conversation = f"{FRESH}-{digest}"
    user = request.query("user")
    return speaker_of(request.visitor, user=user, conversation=conversation, fresh=FRESH)


_DIALECTS: Final[dict[str | None, Dialect]] = {"1": FIRST, "2": SECOND}
