"""ToolCalls: calls of the door's tools, each a turn of the assistant, or several with questions.

The assistant's asks reach the client's user by elicitation, if the client supports it: during the
call, or from 2026-07-28 on by a result after which the client repeats the call with the answer.
Without it the question is the reply, and the next call with the same conversation id answers it.
"""

from __future__ import annotations

import asyncio
import mimetypes
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from prolocutor.asks.answer_forms import (
    CANCEL,
    GivenAnswer,
    answer_schema,
    answer_to_ask,
    question,
)
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.services import ServiceStatus
from prolocutor.contracts.store import Store
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance, SpokenReply
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.dialog.turn_events import ServiceAsked, ServiceSettled, TurnEvent
from prolocutor.errors import BadInput, ConfigError, ProlocutorError
from prolocutor.json_rpc import INVALID_PARAMS, RpcFault
from prolocutor.names import suggest
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.mcp.door.client import McpClient, PersonDialog, find_conversation
from prolocutor.plugins.mcp.wire.protocol import VERSIONS
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import take_turn
from prolocutor.web.operations import JsonReader, OpenStruct

ATTRIBUTE: Final = "mcp"
ANSWERS: Final = "answers"
"""The member of the attribute `mcp` that names the reply which asked."""

LATEST_ROWS: Final = 50
"""The rows of a person's feed among which a question is looked for before the dialog is read."""

MAX_QUESTIONS: Final = 20
MAX_TOLD: Final = 20
ASK: Final = "ask"
GO_ON: Final = "Give the conversation_id of an answer to go on with that conversation."
INPUT_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What to say to the assistant."},
        "conversation_id": {
            "type": "string",
            "description": "The conversation to go on with; without it a new one begins.",
        },
    },
    "required": ["text"],
}
ANSWER_SECONDS: Final = 600.0
FIELD: Final = "answer"
SECRET: Final = frozenset({"password"})
"""Asks that a form must not be used for, by the specification."""

LINKS_SINCE: Final = VERSIONS.index("2025-06-18")
"""Links to resources came with this version."""

_DATA: Final = re.compile(r"data:((?:image|audio)/[\w.+-]+);base64,([A-Za-z0-9+/=]+)")
_KINDS: Final = {"picture": "image", "audio": "audio", "video": "video"}

OUTPUT_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What the assistant says."},
        "conversation_id": {
            "type": "string",
            "description": "Give it with the next call to go on with this conversation.",
        },
        "skill": {"type": "string", "description": "Which skill has answered."},
        "confidence": {"type": "number", "description": "How sure it is."},
        "ask": {"type": "string", "description": "The kind of answer that is waited for."},
        "answer": {"type": "object", "description": "The JSON Schema of that answer."},
        "messages": {
            "type": "array",
            "items": {"type": "object"},
            "description": "The reply with its links, pictures, cards, buttons and choices.",
        },
        "handover": {"type": "object", "description": "The person who has the conversation now."},
    },
    "required": ["text", "conversation_id", "skill", "confidence"],
}


class QuestionAnswers:
    """The questions of a conversation, by the ids of the replies that asked."""

    def __init__(self, store: Store, conversation: PersonDialog) -> None:
        self._store = store
        self._place = conversation

    async def is_latest(self, utt_id: str) -> bool:
        """Return whether a reply is the last of the conversation, by the end of the feed."""
        user = self._place.user
        end = await self._store.feed_end(user)
        for row in reversed(await self._store.feed(user, max(0, end - LATEST_ROWS), LATEST_ROWS)):
            if row.dialog_name == self._place.id and row.message is not None:
                said = plain.decode(row.message)
                if said.get("type") == "command" or "utt_id" in said:
                    return bool(said.get("utt_id") == utt_id)
        return False

    async def is_last(self, utt_id: str) -> bool:
        """Return whether a reply is the last of the conversation."""
        said = await self._utterances()
        return bool(said) and said[-1].utt_id == utt_id

    async def find_reply(self, utt_id: str, waiting: PendingAsk | None) -> ToolReply | None:
        """Return the reply to the answer of a question, None for an unanswered question.

        `waiting` is the open ask of the last reply.
        """
        said = await self._utterances()
        for position, one in enumerate(said[:-1]):
            reply = said[position + 1]
            if _answered_question(one) == utt_id and isinstance(reply, BotUtterance):
                return ToolReply(reply, waiting if reply is said[-1] else None)
        return None

    async def _utterances(self) -> list[HumanUtterance | BotUtterance]:
        id_ = await self._store.active_dialog_id(self._place.user, self._place.id)
        dialog = None if id_ is None else await self._store.dialog(id_)
        return [] if dialog is None else list(dialog.utterances)


def _answered_question(utterance: HumanUtterance | BotUtterance) -> object:
    """Return the id of the reply whose question an utterance answers, or None."""
    ids = utterance.attributes.get(ATTRIBUTE) if isinstance(utterance, HumanUtterance) else None
    return ids.get(ANSWERS) if isinstance(ids, dict) else None


class ToolCallParams(msgspec.Struct, rename="camel"):
    """The parameters of `tools/call`."""

    name: str
    arguments: JsonObject | None = None
    meta: JsonObject | None = msgspec.field(default=None, name="_meta")
    input_responses: JsonObject | None = None
    request_state: str | None = None


class AskArguments(OpenStruct):
    """The arguments of all tools; further arguments become attributes of the utterance."""

    text: str
    conversation_id: str | None = None


class ElicitedAnswer(msgspec.Struct):
    """The response of the client's user to a question."""

    action: str
    content: JsonObject | None = None


def check_skills(wanted: bool | Sequence[str], known: Sequence[str]) -> None:
    """Raise `ConfigError` for an unknown skill."""
    for name in wanted if not isinstance(wanted, bool) else ():
        if name not in known:
            what = f"no skill is called {name!r}; {suggest(name, known)}"
            raise ConfigError(what, key="doors.mcp.skills")


class ToolCalls:
    """The tools of an assistant: `ask`, and a tool for each of `skills` that is asked alone."""

    def __init__(self, assistant: Assistant, skills: bool | Sequence[str] = False) -> None:
        self._assistant = assistant
        services = [service for service in assistant.services() if service.stage == Stage.SKILL]
        wanted = [
            service for service in services if skills is True or (skills and service.name in skills)
        ]
        names = [service.name for service in services]
        check_skills(skills, names)
        self._skills: dict[str, str | None] = {ASK: None}
        self._skills |= {tool_name(one.name): one.name for one in wanted}
        self.tools = [
            _tool(ASK, assistant.name, _about(assistant.name, services)),
            *(_tool(tool_name(one.name), one.name, _about_skill(one)) for one in wanted),
        ]

    async def call(self, params: ToolCallParams, client: McpClient) -> JsonObject:
        """Call a tool; raise `RpcFault` for an unknown tool, return other errors as results."""
        if params.name not in self._skills:
            known = ", ".join(self._skills)
            raise RpcFault(INVALID_PARAMS, f"Unknown tool: {params.name!r:.80}; there are {known}")
        try:
            return await _Call(self._assistant, client, params, self._skills[params.name]).run()
        except RpcFault:
            raise
        except ProlocutorError as error:
            refused = error_response(error)
            return failed_result(refused.error, {**refused.data, "status": refused.status})


class _Call:
    """A call of a tool."""

    def __init__(
        self, assistant: Assistant, client: McpClient, params: ToolCallParams, skill: str | None
    ) -> None:
        self._assistant = assistant
        self._client = client
        self._params = params
        self._skill = skill or client.skill
        self._turns = 0
        self._steps = 0
        self._token = (params.meta or {}).get("progressToken")

    async def run(self) -> JsonObject:
        """Run the turns of the call; return its result."""
        state = self._params.request_state
        if state is not None:
            conversation, reply = await self._run_answer_turn(state)
        else:
            given = _ARGUMENTS.read(encode(self._params.arguments or {}))
            conversation = find_conversation(self._client.speaker, given.conversation_id)
            first = GivenAnswer(given.text)
            reply = await self._turn(conversation, first, self._skill, given.extra)
        while (waiting := reply.waiting) is not None and self._may_elicit(waiting):
            if self._client.is_stateless:
                return input_required(waiting, f"{conversation.id} {reply.said.utt_id}")
            answer = await self._elicit(waiting)
            if answer is None:
                break
            reply = await self._turn(conversation, answer)
        return tool_result(reply, conversation.id, self._client.version)

    def _may_elicit(self, waiting: PendingAsk) -> bool:
        client = self._client
        return (
            client.elicits
            and (client.is_stateless or client.back is not None)
            and waiting.ask not in SECRET
            and self._turns <= MAX_QUESTIONS
        )

    async def _run_answer_turn(self, state: str) -> tuple[PersonDialog, ToolReply]:
        """Run the turn of an answer that came with the repeated call."""
        id_, _, utt_id = state.partition(" ")
        conversation = find_conversation(self._client.speaker, id_)
        waiting = await self._assistant.archive.waiting(conversation.user, conversation.id)
        answers = QuestionAnswers(self._assistant.store, conversation)
        if waiting is None or not await answers.is_latest(utt_id):
            reply = await answers.find_reply(utt_id, waiting)
            if reply is not None:  # sent again: the stored reply
                return conversation, reply
            if waiting is None or not await answers.is_last(utt_id):
                # A server refuses a state that is not its own (2026-07-28, multi round-trips).
                what = "requestState: nothing is asked for there, or not any more"
                raise RpcFault(INVALID_PARAMS, what)
        response = (self._params.input_responses or {}).get(FIELD)
        try:
            answer = _answer(waiting, msgspec.convert(response, ElicitedAnswer))
        except msgspec.ValidationError as error:
            raise BadInput(f"inputResponses.{FIELD}: {error}", field="inputResponses") from None
        key = self._client.key or f"answer to {utt_id}"
        attributes: JsonObject = {ATTRIBUTE: {ANSWERS: utt_id}}
        return conversation, await self._turn(conversation, answer, None, attributes, key)

    async def _elicit(self, waiting: PendingAsk) -> GivenAnswer | None:
        """Ask the client's user; return None on failure, and the question stays open."""
        assert self._client.back is not None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                given = await self._client.back.ask("elicitation/create", elicitation(waiting))
            return _answer(waiting, msgspec.convert(given, ElicitedAnswer))
        except (TimeoutError, RpcFault, msgspec.ValidationError):
            return None

    async def _turn(
        self,
        conversation: PersonDialog,
        answer: GivenAnswer,
        skill: str | None = None,
        attributes: JsonObject | None = None,
        key: str | None = None,
    ) -> ToolReply:
        key = key or self._client.key
        if key is not None and self._turns:
            key = f"{key}/{self._turns}"
        self._turns += 1
        input = TurnInput(
            answer.text,
            conversation.user,
            conversation.id,
            attributes or {},
            key,
            "mcp",
            answer.parsed,
            skill=skill,
        )
        is_shown = self._token is not None and self._client.back is not None
        result = await take_turn(self._assistant, input, self._show if is_shown else None)
        return ToolReply(result.spoken, result.waiting, result.is_failure)

    async def _show(self, event: TurnEvent) -> None:
        if isinstance(event, ServiceAsked) and event.stage == Stage.SKILL:
            self._progress(f"asking {event.service}")
        elif isinstance(event, ServiceSettled) and event.stage == Stage.SKILL:
            self._progress(f"{event.service}: {event.outcome}")

    def _progress(self, message: str) -> None:
        assert self._client.back is not None
        self._steps += 1
        params = {"progressToken": self._token, "progress": self._steps, "message": message}
        self._client.back.notify("notifications/progress", params)


def elicitation(waiting: PendingAsk) -> JsonObject:
    """Return the parameters of `elicitation/create` for an open ask: a form with one field."""
    schema = answer_schema(waiting)
    if waiting.ask == "yesno":
        schema = {"type": "boolean"}
    form = {"type": "object", "properties": {FIELD: schema}, "required": [FIELD]}
    return {"message": question(waiting), "requestedSchema": form}


def input_required(waiting: PendingAsk, state: str) -> JsonObject:
    """Return the result that asks for an answer, with which the client repeats the call."""
    asked = {"method": "elicitation/create", "params": elicitation(waiting)}
    return {
        "resultType": "input_required",
        "inputRequests": {FIELD: asked},
        "requestState": state,
    }


def tool_name(skill: str) -> str:
    """Return the name of the tool for a skill, in the characters that MCP allows."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", skill)[:128]
    return f"{name}_skill" if name == ASK else name


def _answer(waiting: PendingAsk, answer: ElicitedAnswer) -> GivenAnswer:
    if answer.action != "accept":
        return CANCEL
    return answer_to_ask(waiting, (answer.content or {}).get(FIELD))


def _tool(name: str, title: str, description: str) -> JsonObject:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": INPUT_SCHEMA,
        "outputSchema": OUTPUT_SCHEMA,
    }


def _about(name: str, skills: Sequence[ServiceStatus]) -> str:
    """Return the description of the assistant, made of the cards of its skills."""
    texts = [text for skill in skills if (text := _describe_skill(skill))]
    about = f"Ask {name}, an assistant, in plain words."
    if texts:
        about += " It can help with: " + "; ".join(texts[:MAX_TOLD]) + "."
    return f"{about} {GO_ON}"


def _about_skill(skill: ServiceStatus) -> str:
    return f"{_describe_skill(skill) or f'Ask {skill.name}, in plain words'}. {GO_ON}"


def _describe_skill(skill: ServiceStatus) -> str:
    about = (skill.card or {}).get("description")
    return " ".join(about.split())[:200].rstrip(" .") if isinstance(about, str) else ""


_ARGUMENTS: Final = JsonReader(AskArguments)


class ToolReply(NamedTuple):
    """A reply, its ask, and whether it replaces the reply of a failed service."""

    said: SpokenReply
    waiting: PendingAsk | None
    is_failure: bool = False


def tool_result(reply: ToolReply, conversation_id: str, version: str) -> JsonObject:
    """Return the result of a call: the reply as content, and as structured content.

    The text contains the whole reply, with links, choices and cards. It ends with the
    conversation's id, for clients that show their models the content alone.
    """
    structured = _structured_content(reply, conversation_id)
    text = said_as_text(reply.said.text, reply.said.attributes)
    content: list[JsonObject] = [{"type": "text", "text": text}]
    is_new = VERSIONS.index(version) >= LINKS_SINCE
    messages = structured.get("messages", ())
    content += [block for message in messages if (block := _block(message, is_new))]
    told = {key: structured[key] for key in ("conversation_id", "ask") if key in structured}
    note = {"type": "text", "text": encode(told).decode()}
    content.append({**note, "annotations": {"audience": ["assistant"]}})
    return {"content": content, "isError": reply.is_failure, "structuredContent": structured}


def failed_result(text: str, data: JsonObject) -> JsonObject:
    """Return the result of a failed call: the error as text and as data."""
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": {"prolocutor/error": data},
    }


def _structured_content(reply: ToolReply, conversation_id: str) -> JsonObject:
    said, waiting, _ = reply
    found: JsonObject = {
        "text": said.text,
        "conversation_id": conversation_id,
        "skill": said.active_skill,
        "confidence": said.confidence,
    }
    if waiting is not None:
        found |= {"ask": waiting.ask, "answer": answer_schema(waiting)}
    messages = said.attributes.get("messages")
    if isinstance(messages, list) and messages:
        found["messages"] = [message for message in messages if isinstance(message, dict)]
    if isinstance(handover := said.attributes.get("handover"), dict):
        found["handover"] = handover
    return found


def _block(message: JsonObject, is_new: bool) -> JsonObject | None:
    """Return a message other than text as a block, if the version has such blocks."""
    kind, url = message.get("type"), message.get("url")
    if kind == "rdl" and isinstance(message.get("rdl"), dict):
        card = message["rdl"]
        title, url = card.get("displayTitle"), card.get("webCallback")
        return _link(url, title, card.get("displayText")) if is_new else None
    if kind == "link":
        return _link(url, message.get("title")) if is_new else None
    if kind not in _KINDS or not isinstance(url, str):
        return None
    if data := _DATA.fullmatch(url):
        block = "audio" if data[1].startswith("audio/") else "image"
        return {"type": block, "data": data[2], "mimeType": data[1]}
    if not is_new:
        return None
    guessed = mimetypes.guess_type(url.partition("?")[0])[0] or f"{_KINDS[kind]}/*"
    return _link(url, message.get("alt") or kind, mime=guessed)


def _link(url: Any, title: Any, text: Any = None, mime: str | None = None) -> JsonObject | None:
    if not isinstance(url, str) or not url:
        return None
    name = title if isinstance(title, str) and title else url
    block: JsonObject = {"type": "resource_link", "uri": url, "name": name}
    if isinstance(text, str) and text:
        block["description"] = text
    return {**block, "mimeType": mime} if mime else block
