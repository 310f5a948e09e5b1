"""McpServer: answers the requests of MCP clients, with resources and prompts."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version as version_of
from typing import Any, Final
from urllib.parse import quote, unquote

import msgspec
from msgspec import UNSET

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import spend
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.dialog.rendering import said_as_text
from prolocutor.errors import Forbidden
from prolocutor.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RpcFault,
    RpcId,
    RpcMessage,
    read_params,
    rpc_failure,
    rpc_result,
)
from prolocutor.names import suggest
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.mcp.door.asking import ToolCallParams, ToolCalls
from prolocutor.plugins.mcp.door.client import McpClient, find_conversation
from prolocutor.plugins.mcp.wire.protocol import (
    CAPABILITIES_KEY,
    HANDSHAKE_VERSIONS,
    SERVER_KEY,
    STATELESS_VERSIONS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    VERSIONS,
)
from prolocutor.web.error_table import error_response

TTL_MILLISECONDS: Final = 60_000
"""Milliseconds for which a client may keep a list of what does not change."""

SCHEME: Final = "prolocutor://"
AGENTS: Final = f"{SCHEME}agents/"
CONVERSATIONS: Final = f"{SCHEME}conversations/"
PAGE_ROWS: Final = 50
MAX_MESSAGES: Final = 200
"""The messages of a conversation that are shown, the last ones."""

MAX_STARTERS: Final = 8
NOT_FOUND: Final = -32002
"""The number for an unknown resource, up to 2025-11-25."""

TEMPLATES: Final[list[JsonObject]] = [
    {
        "uriTemplate": AGENTS + "{name}",
        "name": "agent",
        "description": "The card of an agent: what it can do, and examples.",
        "mimeType": "application/json",
    },
    {
        "uriTemplate": CONVERSATIONS + "{conversation_id}",
        "name": "conversation",
        "description": "What was said in a conversation of yours.",
        "mimeType": "text/plain",
    },
]
_TOLD: Final = ("description", "examples", "languages")


class Hello(msgspec.Struct, rename="camel"):
    """The parameters of `initialize`."""

    protocol_version: str
    capabilities: JsonObject = {}
    client_info: JsonObject = {}


class McpServer:
    """The protocol of a server that has tools, resources and prompts."""

    def __init__(
        self,
        assistant: Assistant,
        skills: bool | Sequence[str] = False,
        starters: Sequence[str] = (),
    ) -> None:
        self._calls = ToolCalls(assistant, skills)
        self._resources = OfferedResources(assistant)
        self._prompts = OfferedPrompts(assistant, starters)
        self._info: JsonObject = {"name": assistant.name, "version": version_of("prolocutor")}
        about = "Ask the assistant in plain words; it finds out who knows."
        capabilities: JsonObject = {"tools": {}, "resources": {}, "prompts": {}}
        self._about: JsonObject = {"capabilities": capabilities, "instructions": about}
        self._methods: dict[str, Callable[[RpcMessage, McpClient], Awaitable[JsonObject]]] = {
            "tools/list": self._list,
            "tools/call": self._call,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            "ping": self._ping,
            "server/discover": self._discover,
        }

    def welcome(self, message: RpcMessage) -> tuple[Hello, str, JsonObject]:
        """Answer `initialize`; return the client's parameters, the version, and the result."""
        hello: Hello = read_params(Hello, message)
        wanted = hello.protocol_version
        chosen = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return hello, chosen, {"protocolVersion": chosen, "serverInfo": self._info, **self._about}

    async def respond(self, message: RpcMessage, client: McpClient) -> bytes:
        """Return the response to a request."""
        id_ = request_id(message)
        try:
            return rpc_result(id_, await self.answer(message, client))
        except Exception as error:
            return failure(id_, error)

    async def answer(self, message: RpcMessage, client: McpClient) -> JsonObject:
        """Return the result of a request, or raise `RpcFault`."""
        method = str(message.method)
        handle = self._methods.get(method)
        if handle is None or (method == "server/discover") > client.is_stateless:
            raise RpcFault(METHOD_NOT_FOUND, "Method not found", method)
        if client.is_stateless and method == "ping":
            raise RpcFault(METHOD_NOT_FOUND, "Method not found", method)
        result = await handle(message, client)
        if client.is_stateless:
            meta = {**result.get("_meta", {}), SERVER_KEY: self._info}
            result = {"resultType": "complete", **result, "_meta": meta}
        return result

    async def _list(self, message: RpcMessage, client: McpClient) -> JsonObject:
        _check_first_page(message)
        return {"tools": self._calls.tools, **_caching_rules(client, TTL_MILLISECONDS)}

    async def _call(self, message: RpcMessage, client: McpClient) -> JsonObject:
        return await self._calls.call(read_params(ToolCallParams, message), client)

    async def _list_resources(self, message: RpcMessage, client: McpClient) -> JsonObject:
        cursor = read_params(JsonObject, message).get("cursor")
        return {**await self._resources.find_page(cursor, client), **_caching_rules(client, 0)}

    async def _list_templates(self, message: RpcMessage, client: McpClient) -> JsonObject:
        _check_first_page(message)
        return {"resourceTemplates": TEMPLATES, **_caching_rules(client, TTL_MILLISECONDS)}

    async def _read_resource(self, message: RpcMessage, client: McpClient) -> JsonObject:
        uri = read_params(ResourceParams, message).uri
        return {**await self._resources.read(uri, client), **_caching_rules(client, 0)}

    async def _list_prompts(self, message: RpcMessage, client: McpClient) -> JsonObject:
        _check_first_page(message)
        return {**self._prompts.find_all(), **_caching_rules(client, TTL_MILLISECONDS)}

    async def _get_prompt(self, message: RpcMessage, _: McpClient) -> JsonObject:
        return self._prompts.get(read_params(PromptParams, message).name)

    async def _ping(self, _: RpcMessage, __: McpClient) -> JsonObject:
        return {}

    async def _discover(self, _: RpcMessage, __: McpClient) -> JsonObject:
        cached = {"ttlMs": TTL_MILLISECONDS, "cacheScope": "public"}
        return {"supportedVersions": list(VERSIONS), **self._about, **cached}


def _check_first_page(message: RpcMessage) -> None:
    """Raise `RpcFault` for a page other than the first of a list with a single page."""
    if read_params(JsonObject, message).get("cursor") is not None:
        raise RpcFault(INVALID_PARAMS, "there is one page only")


def _caching_rules(client: McpClient, ttl: int) -> JsonObject:
    """Return the caching rules of a list (2026-07-28): its lifetime, and that it is private."""
    return {"ttlMs": ttl, "cacheScope": "private"} if client.is_stateless else {}


def request_id(message: RpcMessage) -> RpcId:
    """Return the id of a request, or None."""
    return None if message.id is UNSET else message.id


def failure(id_: RpcId, error: Exception) -> bytes:
    """Return the error response to a request."""
    if not isinstance(error, RpcFault):
        error = RpcFault(INTERNAL_ERROR, error_response(error).error)
    return rpc_failure(id_, error)


def read_envelope(message: RpcMessage) -> JsonObject | None:
    """Return the `_meta` of a request of a stateless version, else None."""
    meta = _read_meta(message)
    return meta if VERSION_KEY in meta else None


def request_user(message: RpcMessage) -> object:
    """Return the user in the `_meta` of a request."""
    return _read_meta(message).get("user") if b'"user"' in bytes(message.params) else None


def _read_meta(message: RpcMessage) -> JsonObject:
    if not message.is_request or not message.params:
        return {}
    try:
        meta = read_params(JsonObject, message).get("_meta")
    except RpcFault:
        return {}
    return meta if isinstance(meta, dict) else {}


def check_envelope(meta: JsonObject) -> tuple[str, Any]:
    """Return the version and the client's capabilities; raise `RpcFault` for faulty ones."""
    version = meta.get(VERSION_KEY)
    if CAPABILITIES_KEY not in meta or not isinstance(version, str):
        needed = f"{VERSION_KEY} and {CAPABILITIES_KEY}"
        raise RpcFault(INVALID_PARAMS, f"params._meta needs the keys {needed}")
    if version not in STATELESS_VERSIONS:
        raise unsupported_version(version)
    return version, meta[CAPABILITIES_KEY]


def unsupported_version(version: str) -> RpcFault:
    """Return the error for an unsupported version."""
    data = {"supported": list(VERSIONS), "requested": version}
    return RpcFault(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


class OfferedResources:
    """The cards of an assistant's agents, and its conversations with the caller."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def find_page(self, cursor: object, client: McpClient) -> JsonObject:
        """Return a page of the resources: cards, then the caller's latest conversations."""
        before = _number(cursor)
        user, found = client.speaker.user, list[JsonObject]()
        if before is None:
            found = [_card_entry(name, card) for name, card in self._cards().items()]
        rows = []
        if user is not None:
            rows = await self._assistant.store.conversations(user, before, PAGE_ROWS + 1)
            spend("backlog", user, max(1, len(rows)))
        found += [
            {
                "uri": CONVERSATIONS + quote(row.name, safe=""),
                "name": row.name,
                "title": _message_text(row.first) or row.name,
                "description": f"A conversation, last at {row.at}.",
                "mimeType": "text/plain",
            }
            for row in rows[:PAGE_ROWS]
        ]
        more = {"nextCursor": str(rows[PAGE_ROWS - 1].n)} if len(rows) > PAGE_ROWS else {}
        return {"resources": found, **more}

    async def read(self, uri: str, client: McpClient) -> JsonObject:
        """Return the resource at an address; raise `RpcFault` unless the caller may read it."""
        if uri.startswith(AGENTS):
            card = self._cards().get(unquote(uri.removeprefix(AGENTS)))
            if card is not None:
                return _contents(uri, "application/json", encode(card).decode())
        elif uri.startswith(CONVERSATIONS):
            rows = await self._rows(unquote(uri.removeprefix(CONVERSATIONS)), client)
            if rows:
                return _contents(uri, "text/plain", "\n".join(map(_line, rows)))
        number = INVALID_PARAMS if client.is_stateless else NOT_FOUND
        raise RpcFault(number, "Resource not found", {"uri": uri})

    async def _rows(self, id_: str, client: McpClient) -> list[FeedRow]:
        try:
            conversation = find_conversation(client.speaker, id_ or "-")
        except Forbidden:
            return []
        user = conversation.user
        rows = await self._assistant.store.feed_tail(user, conversation.id, MAX_MESSAGES)
        spend("backlog", user, max(1, len(rows)))
        return [row for row in rows if row.message is not None]

    def _cards(self) -> dict[str, JsonObject]:
        """Return the public cards of agents by name."""
        found: dict[str, JsonObject] = {}
        for service in self._assistant.services():
            card = service.card or {}
            if service.stage == Stage.SKILL and not card.get("hidden"):
                told = {key: card[key] for key in _TOLD if card.get(key)}
                found[service.name] = {"name": service.name, **told}
        return found


class OfferedPrompts:
    """The prompts to begin with: the starters of the file, else examples from the cards."""

    def __init__(self, assistant: Assistant, starters: Sequence[str] = ()) -> None:
        texts = list(starters) or _examples(assistant)[:MAX_STARTERS]
        self._texts: dict[str, str] = {}
        for text in texts:
            name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "starter"
            while name in self._texts:
                name += "-2"
            self._texts[name] = text

    def find_all(self) -> JsonObject:
        """Return all prompts."""
        prompts = [
            {"name": name, "title": text, "description": f"Say: {text}"}
            for name, text in self._texts.items()
        ]
        return {"prompts": prompts}

    def get(self, name: str) -> JsonObject:
        """Return the message of a prompt; raise `RpcFault` for an unknown prompt."""
        if name not in self._texts:
            hint = suggest(name, self._texts) if self._texts else "there is none"
            raise RpcFault(INVALID_PARAMS, f"no prompt is called {name!r:.80}; {hint}")
        text = self._texts[name]
        content = {"type": "text", "text": text}
        return {
            "description": f"Say: {text}",
            "messages": [{"role": "user", "content": content}],
        }


class ResourceParams(msgspec.Struct):
    """The parameters of `resources/read`."""

    uri: str


class PromptParams(msgspec.Struct):
    """The parameters of `prompts/get`; prompts here have no arguments."""

    name: str


def _card_entry(name: str, card: JsonObject) -> JsonObject:
    entry: JsonObject = {
        "uri": AGENTS + quote(name, safe=""),
        "name": name,
        "title": f"Agent {name}",
        "mimeType": "application/json",
    }
    if isinstance(card.get("description"), str):
        entry["description"] = card["description"]
    return entry


def _contents(uri: str, mime: str, text: str) -> JsonObject:
    return {"contents": [{"uri": uri, "mimeType": mime, "text": text}]}


def _examples(assistant: Assistant) -> list[str]:
    found = [service.card.get("examples") for service in assistant.services() if service.card]
    return [
        text
        for texts in found
        if isinstance(texts, list | tuple)
        for text in texts[:2]
        if isinstance(text, str)
    ]


def _line(row: FeedRow) -> str:
    """Return a message of a conversation as a line with its speaker."""
    message: Any = msgspec.json.decode(row.message or b"{}")
    who = "Person" if message.get("type") == "command" else "Assistant"
    return f"{who}: {_message_text(row.message)}"


def _message_text(message: bytes | None) -> str:
    if message is None:
        return ""
    value: Any = msgspec.json.decode(message)
    if value.get("type") == "command":
        return str(value.get("command", ""))
    return said_as_text("", {"messages": [value]})


def _number(cursor: object) -> int | None:
    if cursor is None:
        return None
    if not (isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise RpcFault(INVALID_PARAMS, "a cursor is the nextCursor of another page")
    return max(1, int(cursor))
