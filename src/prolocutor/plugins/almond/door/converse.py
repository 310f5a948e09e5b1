"""The converse API: one HTTP request, one turn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.http import Visitor
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.rendering import plain_text
from prolocutor.errors import BadInput
from prolocutor.plugins.almond.door import commands
from prolocutor.plugins.almond.door.dialects import FIRST, SECOND, Dialect, Frame
from prolocutor.plugins.almond.door.speakers import (
    ConversationId,
    Speaker,
    UserQuery,
    expectation,
    find_speaker,
)
from prolocutor.web.operations import IdempotencyKey, SkillName, TypedRequest

Take = Callable[[TurnInput], Coroutine[Any, Any, TurnResult]]
"""Runs the turn of an input, once for the same key."""

FRESH: Final = "stateless"
PAGE_ROWS: Final = 100

_DIALECTS: Final[dict[str | None, Dialect]] = {"1": FIRST, "2": SECOND}


class SpeakerParams(UserQuery, frozen=True, kw_only=True):
    """The parameters of a turn."""

    idempotency_key: IdempotencyKey = msgspec.field(default=None, name="Idempotency-Key")
    skill: SkillName = None


class ConverseParams(SpeakerParams, frozen=True, kw_only=True):
    """The parameters of `converse`."""

    protocol: Annotated[
        Literal["1", "2"] | None,
        Meta(
            description="2: with the echo and the ids of messages.",
            extra={"error": "protocol is 1 or 2"},
        ),
    ] = None


class ConverseRequest(msgspec.Struct, frozen=True, rename="camel"):
    """A person's words, or a pressed button."""

    command: Annotated[
        dict[str, Any],
        Meta(
            description="`type` is `command` with a `text`, `parsed` with `json` and perhaps a "
            "`title`, or `tt` with a `code`.",
            extra={"error": "Missing command"},
        ),
    ]
    conversation_id: ConversationId = None


class ConverseReply(msgspec.Struct, frozen=True, rename="camel"):
    """The messages of a turn, and its ask."""

    conversation_id: str
    messages: list[Frame]
    ask_special: str | None


class AssistRequest(msgspec.Struct, frozen=True):
    """A person's words in Home Assistant's form."""

    text: Annotated[str, Meta(extra={"error": "text is needed, as a text"})]
    language: str | None = None
    conversation_id: ConversationId = None
    agent_id: str | None = None


class PlainSpeech(msgspec.Struct, frozen=True):
    """Words without markup."""

    speech: str
    extra_data: None = None


class AssistSpeech(msgspec.Struct, frozen=True):
    """Words by their markup."""

    plain: PlainSpeech


class AssistTargets(msgspec.Struct, frozen=True):
    """Changed devices; always empty, as an assistant of agents knows none."""

    targets: list[str] = []
    success: list[str] = []
    failed: list[str] = []


class AssistResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The response, as Home Assistant has it."""

    response_type: Literal["action_done"] = "action_done"
    language: str
    data: AssistTargets = AssistTargets()
    speech: AssistSpeech


class AssistReply(msgspec.Struct, frozen=True):
    """A reply, as Home Assistant has it."""

    response: AssistResponse
    conversation_id: str
    continue_conversation: bool


class ConverseEndpoints:
    """Answers Almond's `converse` and Home Assistant's `conversation/process`."""

    def __init__(self, assistant: Assistant, take: Take) -> None:
        self._assistant = assistant
        self._take = take

    async def converse(
        self, request: TypedRequest[ConverseParams, ConverseRequest]
    ) -> ConverseReply:
        """Run a turn and return its messages and ask."""
        dialect = find_dialect(request.params.protocol, FIRST)
        key = request.params.idempotency_key
        speaker = _speaker(request.visitor, request.params, request.body.conversation_id)
        input = commands.read_command(request.body.command, speaker)
        if commands.is_blank(input):
            messages: list[Frame] = []
            closing = await expectation(self._assistant, speaker)
        else:
            skill = request.params.skill
            result = await self._take(replace(input, skill=skill, request_id=key))
            messages, closing = await self._turn_frames(result, speaker, dialect)
        return ConverseReply(speaker.conversation, messages, closing.get("ask"))

    async def process(self, request: TypedRequest[SpeakerParams, AssistRequest]) -> AssistReply:
        """Say something in the way of Home Assistant's conversation API."""
        key, text = request.params.idempotency_key, request.body.text
        speaker = _speaker(request.visitor, request.params, request.body.conversation_id)
        speech = ""
        if text.strip():
            input = commands.make_input(speaker, text)
            skill = request.params.skill
            result = await self._take(replace(input, skill=skill, request_id=key))
            messages, closing = await self._turn_frames(result, speaker, FIRST)
            spoken = [message for message in messages if message["type"] != "result"]
            speech = plain_text(spoken, closing.get("ask"))
        else:
            closing = await expectation(self._assistant, speaker)
        return AssistReply(
            AssistResponse(
                language=request.body.language or "en", speech=AssistSpeech(PlainSpeech(speech))
            ),
            speaker.conversation,
            closing.get("ask") is not None,
        )

    async def _turn_frames(
        self, result: TurnResult, speaker: Speaker, dialect: Dialect
    ) -> tuple[list[Frame], Frame]:
        """Return the messages of a turn, from the feed, and the dialog's ask after it."""
        frames, after = [], result.n - 1
        while rows := await self._assistant.store.feed(speaker.user, after, PAGE_ROWS):
            for row in rows:
                after = row.n
                if row.dialog_name != speaker.dialog:
                    continue
                if (frame := dialect.message(row)) is not None:
                    frames.append(frame)
                if row.closing is not None:
                    return frames, plain.decode(row.closing)
        return frames, await expectation(self._assistant, speaker)


def find_dialect(given: str | None, usual: Dialect) -> Dialect:
    """Return the dialect of `?protocol=`; raise `BadInput` for an unknown protocol."""
    if given in (None, ""):
        return usual
    if given not in _DIALECTS:
        raise BadInput("protocol is 1 or 2", field="protocol")
    return _DIALECTS[given]


def _speaker(visitor: Visitor, params: SpeakerParams, conversation: str | None) -> Speaker:
    """Return who speaks; the same key without a conversation's id is the same new conversation."""
    key = params.idempotency_key
    if key is not None and conversation is None and visitor.kind != "anonymous":
        digest = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        conversation = f"{FRESH}-{digest}"
    return find_speaker(visitor, user=params.user, conversation=conversation, fresh=FRESH)
