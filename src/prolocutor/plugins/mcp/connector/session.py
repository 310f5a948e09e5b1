"""McpSession: the agreement with a server, and the calls of its tools.

The newest version that both sides know is used: `server/discover` (2026-07-28) is tried first, then
the handshake. Source: the specification of 2026-07-28, "Versioning".
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Mapping
from importlib.metadata import version as version_of
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.calls import EFFECT_KEY, running_effect
from prolocutor.dialog.plain import JsonObject, decode
from prolocutor.errors import BadReply, ServiceError, ServiceRaised
from prolocutor.json_rpc import INVALID_REQUEST, RpcFault
from prolocutor.names import did_you_mean
from prolocutor.plugins.mcp.connector.arguments import OfferedTool
from prolocutor.plugins.mcp.connector.peer import NO_HEADERS, ServerPeer, SessionLost
from prolocutor.plugins.mcp.oauth.discovery import TokenNeeded
from prolocutor.plugins.mcp.wire.headers import header_fault, param_headers
from prolocutor.plugins.mcp.wire.protocol import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKE_VERSIONS,
    STATELESS_VERSIONS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    is_stateless,
)
from prolocutor.plugins.mcp.wire.tools import ToolInfo, ToolPage, ToolResult

log = logging.getLogger(__name__)

T = TypeVar("T")

PROBE_TIMEOUT: Final = 5.0
"""Seconds after which a server that does not answer `server/discover` gets the handshake."""

HANDSHAKE_TIMEOUT: Final = 60.0
"""Seconds for the handshake."""

MAX_PAGES: Final = 100
CAPABILITIES: Final[JsonObject] = {"elicitation": {"form": {}}}
CLIENT: Final[JsonObject] = {"name": "prolocutor", "version": version_of("prolocutor")}

_read_result: Final = msgspec.json.Decoder(ToolResult).decode


class _Discovered(msgspec.Struct, rename="camel"):
    supported_versions: list[str] = []


class _Initialized(msgspec.Struct, rename="camel"):
    protocol_version: str


class MissingTool(BadReply):
    """The server has no such tool."""


class McpSession:
    """A client of a server; all calls share the agreed version.

    `pinned` is the version to use, None for the newest. Reaching the agreement goes on if the call
    that started it is cancelled.
    """

    def __init__(self, peer: ServerPeer, *, pinned: str | None = None) -> None:
        self._peer = peer
        self._pinned = pinned
        self._ids = itertools.count(1)
        self._is_agreed = False
        self._agreeing: asyncio.Task[None] | None = None
        self._tools: list[ToolInfo] | None = None
        self._offered: dict[str | None, OfferedTool] = {}
        self._excluded: dict[str, str] = {}
        self._meta = Raw(b"{}")

    @property
    def is_stateless(self) -> bool:
        """Whether the server's questions are part of its results."""
        return is_stateless(self._peer.version)

    async def tool(self, name: str | None, patience: float) -> OfferedTool:
        """Return the tool of a name, or the only tool; raise `MissingTool`, listing the tools."""
        await self.agree(patience)
        if (offered := self._offered.get(name)) is not None:
            return offered
        tools = await self.tools()
        found = [tool for tool in tools if tool.name == name]
        if name is None:
            found = tools if len(tools) == 1 else [tool for tool in tools if tool.name == "ask"]
        if found:
            offered = self._offered[name] = OfferedTool(found[0])
            return offered
        names = [tool.name for tool in tools]
        if name in self._excluded:
            raise MissingTool(f"its tool {name!r} cannot be called: {self._excluded[name]}")
        if name is None:
            raise MissingTool(
                f"name one of its tools: tool: {' | '.join(names) or '(it has none)'}"
            )
        meant = did_you_mean(name, names)
        hint = f"{meant} " if meant else ""
        raise MissingTool(f"it has no tool {name!r}; {hint}there are {', '.join(names) or 'none'}")

    async def agree(self, patience: float) -> None:
        """Agree on a version unless that is done; raise `ServiceError` if none is common."""
        if await self._peer.open(patience):
            self.forget()
        if self._is_agreed:
            return
        if self._agreeing is None:
            agreeing = BackgroundTasks("agreement on a version")
            self._agreeing = agreeing.start(self._agree_in_time(), awaited=True)
            self._agreeing.add_done_callback(self._reach_agreement)
        await asyncio.shield(self._agreeing)

    async def call(
        self,
        tool: OfferedTool,
        arguments: JsonObject,
        further: JsonObject,
        id_: int,
        headers: Mapping[str, str],
    ) -> ToolResult:
        """Call a tool; `further` are parameters beside its name and arguments."""
        params = {"name": tool.info.name, "arguments": arguments, **further}
        if (effect := running_effect.get()) is not None:
            params["_meta"] = {EFFECT_KEY: effect.key}
        if tool.repeats and self.is_stateless and self._peer.has_headers:
            headers = {**headers, **param_headers(tool.info.input_schema, arguments)}
        result = await self.request("tools/call", params, headers, id_=id_)
        try:
            return _read_result(result)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise BadReply(f"this is not the result of a tool: {error}") from None

    async def tools(self) -> list[ToolInfo]:
        """Return the tools of the server; they are fetched once, and again after a change."""
        if self._tools is not None:
            return self._tools
        tools: list[ToolInfo] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = _read(await self.request("tools/list", params), ToolPage)
            tools += filter(self._may_call, page.tools)
            if not (cursor := page.next_cursor):
                break
        self._tools = tools
        return tools

    def _may_call(self, tool: ToolInfo) -> bool:
        """Return whether a tool is usable: over HTTP its marked headers must be valid."""
        fault = ""
        if self.is_stateless and self._peer.has_headers:
            fault = header_fault(tool.input_schema)
        if fault:
            log.warning("the tool %r of an MCP server is left out: %s", tool.name, fault)
            self._excluded[tool.name] = fault
        return not fault

    async def request(
        self,
        method: str,
        params: JsonObject,
        headers: Mapping[str, str] = NO_HEADERS,
        *,
        id_: int | None = None,
    ) -> Raw:
        """Send a request in the agreed version; raise `ServiceRaised` for the server's errors."""
        if is_stateless(self._peer.version):
            given = params.get("_meta")
            meta = {**decode(self._meta), **given} if given else self._meta
            params = {**params, "_meta": meta}
        try:
            return await self._peer.request(id_ or self.next_id(), method, params, headers)
        except SessionLost:
            self.forget()
            raise
        except RpcFault as fault:
            if self._wants_handshake(fault) and running_effect.get() is None:
                await self._renew()
                raise SessionLost("the server asks while a call runs; another handshake") from None
            raise ServiceRaised(f"{method}: error {fault.number}: {fault!s:.300}") from None

    def next_id(self) -> int:
        """Return the id of the next request."""
        return next(self._ids)

    def forget(self) -> None:
        """Agree on a version again before the next call."""
        self._is_agreed = False
        self.forget_tools()

    def forget_tools(self) -> None:
        """Fetch the tools again before the next call."""
        self._tools = None
        self._offered.clear()
        self._excluded.clear()

    async def aclose(self) -> None:
        """Close the connection to the server."""
        if self._agreeing is not None:
            self._agreeing.cancel()
            await asyncio.wait([self._agreeing])
        await self._peer.aclose()

    def _wants_handshake(self, fault: RpcFault) -> bool:
        """Return whether a server fails because it cannot ask during a call.

        Servers written for the handshake fail so with newer versions too.
        """
        return (
            self._pinned is None
            and is_stateless(self._peer.version)
            and fault.number == INVALID_REQUEST
            and "elicitation/create" in str(fault)
        )

    async def _renew(self) -> None:
        """Restart the session, with the handshake from now on."""
        self._pinned = HANDSHAKE_VERSIONS[-1]
        self.forget()
        await self._peer.renew()

    def _reach_agreement(self, task: asyncio.Task[None]) -> None:
        self._agreeing = None
        if not task.cancelled() and task.exception() is None:
            self._is_agreed = True

    async def _agree_in_time(self) -> None:
        try:
            async with asyncio.timeout(HANDSHAKE_TIMEOUT):
                await self._agree()
        except RpcFault as fault:
            raise ServiceRaised(
                f"no version agreed on: error {fault.number}: {fault!s:.300}"
            ) from None
        except TimeoutError:
            raise ServiceRaised(f"no version agreed on within {HANDSHAKE_TIMEOUT:g} s") from None

    async def _agree(self) -> None:
        if self._pinned is not None and not is_stateless(self._pinned):
            await self._initialize(self._pinned)
            return
        try:
            if await self._discover(self._pinned or STATELESS_VERSIONS[-1]) or self._pinned:
                return
        except TimeoutError:
            log.debug("no answer to server/discover; trying the handshake")
        except RpcFault as fault:
            if fault.number == UNSUPPORTED_VERSION:
                # A server that refuses what it says it speaks, once, is asked once more.
                wanted = self._pinned or STATELESS_VERSIONS[-1]
                if wanted in _read_supported_versions(fault) and await self._discover(wanted):
                    return
                if not _shares_handshake(fault):
                    raise
        except ServiceError as error:
            if not error.answered or isinstance(error, TokenNeeded):
                raise
        try:
            await self._initialize(HANDSHAKE_VERSIONS[-1])
        except RpcFault as fault:
            # A slow server may have taken the first request for its version all the same.
            if fault.number != UNSUPPORTED_VERSION or not await self._discover(
                STATELESS_VERSIONS[-1]
            ):
                raise

    async def _discover(self, version: str) -> bool:
        """Ask for the server's versions; return whether it speaks the newest version."""
        async with asyncio.timeout(PROBE_TIMEOUT):
            found = await self._peer.request(
                self.next_id(), "server/discover", {"_meta": _envelope(version)}
            )
        try:
            if version not in msgspec.json.decode(found, type=_Discovered).supported_versions:
                return False
        except msgspec.MsgspecError:
            return False
        self._peer.version = version
        self._meta = Raw(msgspec.json.encode(_envelope(version)))
        return True

    async def _initialize(self, version: str) -> None:
        offer = {"protocolVersion": version, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
        answer = await self._peer.request(self.next_id(), "initialize", offer)
        chosen = _read(answer, _Initialized).protocol_version
        if chosen not in HANDSHAKE_VERSIONS:
            raise BadReply(f"it speaks version {chosen!r:.40}, which is not known here")
        self._peer.version = chosen
        await self._peer.notify("notifications/initialized", {})


def _envelope(version: str) -> JsonObject:
    return {VERSION_KEY: version, CLIENT_KEY: CLIENT, CAPABILITIES_KEY: CAPABILITIES}


def _shares_handshake(fault: RpcFault) -> bool:
    """Return whether a server that refused a version may know the handshake."""
    supported = _read_supported_versions(fault)
    return not supported or any(version in HANDSHAKE_VERSIONS for version in supported)


def _read_supported_versions(fault: RpcFault) -> list[Any]:
    """Return the supported versions in a server's refusal; [] if it names none."""
    supported = fault.data.get("supported") if isinstance(fault.data, dict) else None
    return supported if isinstance(supported, list) else []


def _read(result: Raw, type_: type[T]) -> T:
    try:
        return msgspec.json.decode(result, type=type_)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadReply(f"no {type_.__name__.strip('_')}: {error}") from None
