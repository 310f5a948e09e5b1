"""The resources and prompts of an assistant: cards, conversations, starters.

Source: the specification, "Resources" and "Prompts". A person sees all of their conversations; a
caller without a person reads a conversation by its id, which cannot be guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import spend
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.dialog.rendering import said_as_text
from prolocutor.errors import Forbidden
from prolocutor.json_rpc import INVALID_PARAMS, RpcFault
from prolocutor.names import suggest
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.mcp.door.client import McpClient
from prolocutor.plugins.mcp.door.persons import find_conversation

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
