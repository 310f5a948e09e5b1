"""McpServer: answers the requests of MCP clients, over any transport."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version as version_of
from typing import Any, Final

import msgspec
from msgspec import UNSET

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.plain import JsonObject
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
from prolocutor.plugins.mcp.door.asking import ToolCallParams, ToolCalls
from prolocutor.plugins.mcp.door.client import McpClient
from prolocutor.plugins.mcp.door.offers import (
    TEMPLATES,
    OfferedPrompts,
    OfferedResources,
    PromptParams,
    ResourceParams,
)
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
