"""McpConnector: a tool of an MCP server as a service."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.asks.answer_forms import gives_up
from prolocutor.bounds import about, check_bounds
from prolocutor.connectors.parts.network_calls import call_headers, each_alone
from prolocutor.contracts.calls import running_effect
from prolocutor.contracts.connector import (
    AgentOptions,
    BearerKey,
    Confidence,
    Headers,
    Replies,
    Request,
    ServiceContext,
)
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog.plain import JsonObject, Plain, check
from prolocutor.errors import BadReply, ConfigError, ServiceError, ServiceRefused
from prolocutor.names import suggest
from prolocutor.plugins.mcp.connector.answers import read_hypotheses, read_reply, read_value
from prolocutor.plugins.mcp.connector.arguments import (
    MissingArgument,
    OfferedTool,
    ToolArguments,
    read_answer,
)
from prolocutor.plugins.mcp.connector.elicited import CANCELLED
from prolocutor.plugins.mcp.connector.http_peer import HttpPeer
from prolocutor.plugins.mcp.connector.input_rounds import PREFIX, InputRound, find_round
from prolocutor.plugins.mcp.connector.open_calls import OpenCall, OpenCalls, request_dialog
from prolocutor.plugins.mcp.connector.peer import ServerPeer, SessionLost
from prolocutor.plugins.mcp.connector.person_sessions import OWN, PersonSession, PersonSessions
from prolocutor.plugins.mcp.connector.session import McpSession, MissingTool
from prolocutor.plugins.mcp.connector.sign_in_round import (
    MAX_LINKS,
    ResumedRequest,
    SignInRound,
    declined_hypothesis,
    is_declined,
    request_user,
    said_last,
    sign_in_round,
)
from prolocutor.plugins.mcp.connector.stdio_peer import StdioPeer
from prolocutor.plugins.mcp.oauth.discovery import TokenNeeded
from prolocutor.plugins.mcp.oauth.settings import KEY, OAuthSettings
from prolocutor.plugins.mcp.wire.protocol import VERSIONS
from prolocutor.plugins.mcp.wire.tools import ToolInfo, ToolResult

DEFAULT_CONFIDENCE: Final = 0.5
MAX_ROUNDS: Final = 20
MAX_TOKENS: Final = 3
"""Tokens that are tried for one call."""

RETRY_SECONDS: Final = 0.05
"""Seconds until a server that only gives its state away is called again."""

DESCRIBE_TIMEOUT: Final = 20.0
"""Seconds for reading the tools for a card."""

RECOGNIZE_TIMEOUT: Final = 5.0
"""Seconds for finding out whether a URL is an MCP server."""

Returns = Literal["hypotheses", "value"]


class McpConnector:
    """The way to a tool of the server behind `url`, or of the program that `run` starts.

    The server's questions become asks, and its demand to sign in becomes a link. `records` keeps
    the tokens.
    """

    def __init__(self, options: McpTool, *, name: str, records: RecordStore | None = None) -> None:
        if bool(options.url) == bool(options.run):
            raise ConfigError("an MCP server has a url, or a program that run starts: one of both")
        if options.protocol is not None and options.protocol not in VERSIONS:
            what = (
                f"no version of MCP is {options.protocol!r}; {suggest(options.protocol, VERSIONS)}"
            )
            raise ConfigError(what, key="protocol")
        self.name = name
        self._tool = options.tool
        self._arguments = ToolArguments(options.argument, options.arguments or {})
        self._returns = options.returns
        self._confidence = options.confidence
        self._calls = OpenCalls()
        self._url = options.url
        settings = options.oauth
        if settings is not None:
            if options.run or options.key:
                raise ConfigError("a server that is signed in at has a url and no key", key=KEY)
            settings.check()
        elif not options.run and not options.key and not _names_authorization(options.headers):
            settings = OAuthSettings()
        self._sessions = PersonSessions(
            options.url, lambda: self._begin(options), settings, records
        )

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Call the tool once for each request."""
        return await each_alone(self._ask_server, requests)

    async def preview(self, request: Request) -> JsonObject:
        """Return the preview of a call: the tool's title, the arguments and their schemas."""
        user = request_user(request) if self._sessions.tells_persons_apart else OWN
        session = (await self._sessions.find_session(user)).session
        tool = await session.tool(self._tool, request.timeout)
        properties = tool.info.input_schema.get("properties")
        return {
            "title": tool.info.title or tool.info.name,
            "fields": self._arguments.make_arguments(request.body(), request, tool),
            "kinds": properties if isinstance(properties, dict) else {},
        }

    async def describe(self) -> JsonObject:
        """Return the card of the tool, from the server's description.

        Raise `ConfigError` if the server has no such tool, or the tool no argument for the text.
        """
        try:
            tool = await self._find_tool()
            self._arguments.check(tool.info)
        except (MissingTool, MissingArgument) as error:
            raise ConfigError(str(error).removeprefix("$: ")) from None
        shown = tool.info.description or tool.info.title or tool.info.name
        return {"description": " ".join(shown.split())}

    async def aclose(self) -> None:
        """Cancel the calls that wait for an answer, and end the session."""
        await self._calls.aclose()
        await self._sessions.aclose()

    def _begin(self, options: McpTool) -> PersonSession:
        peer: ServerPeer
        if options.run:
            peer = StdioPeer(
                options.run,
                name=self.name,
                folder=options.folder,
                environment=options.environment or {},
                asks=self._calls.answer_server,
                tools_changed=self._forget_tools,
            )
        else:
            sent = {"Authorization": f"Bearer {options.key}"} if options.key else {}
            peer = HttpPeer(
                options.url,
                headers={**sent, **(options.headers or {})},
                asks=self._calls.answer_server,
                tools_changed=self._forget_tools,
            )
        return PersonSession(peer, McpSession(peer, pinned=options.protocol))

    async def _find_tool(self) -> OfferedTool:
        person = await self._sessions.find_session(OWN)
        try:
            return await person.session.tool(self._tool, DESCRIBE_TIMEOUT)
        except TokenNeeded as needed:
            own = await self._sessions.retry_session(needed, OWN, person)
            if own is None:
                raise ServiceRefused("people sign in there first", status=401) from None
            return await own.session.tool(self._tool, DESCRIBE_TIMEOUT)

    async def _ask_server(self, request: Request) -> Plain:
        """Call with the person's token, or ask the person to sign in."""
        links = 0
        attributes: JsonObject = {}
        if (signing := self._pending_sign_in(request)) is not None:
            if is_declined(signing[1]):
                return check([declined_hypothesis(self.name)])
            request, links = ResumedRequest(request, signing[0].signs_in), signing[0].links
            attributes = {PREFIX + self.name: None}
        user = request_user(request) if self._sessions.tells_persons_apart else OWN
        person = await self._sessions.find_session(user)
        for _ in range(MAX_TOKENS):
            try:
                return await self._ask_in_session(person.session, request, attributes)
            except TokenNeeded as needed:
                user = user or request_user(request)
                found = await self._sessions.retry_session(needed, user, person)
                if found is None:
                    text = said_last(request)
                    if text is None or links >= MAX_LINKS:
                        raise
                    link = await self._sessions.link(needed, user, person)
                    asked = SignInRound(text, links + 1)
                    return check([asked.question(self.name, self._url, link)])
                person = found
        raise BadReply("the server takes none of its tokens")

    def _pending_sign_in(self, request: Request) -> tuple[SignInRound, JsonObject] | None:
        """Return the sign-in that the person was asked for, and their answer."""
        body = request.body()
        if b'"signs_in"' not in body or (answer := read_answer(body)) is None:
            return None
        signing = sign_in_round(request.value(), self.name)
        return None if signing is None else (signing, answer)

    async def _ask_in_session(
        self, session: McpSession, request: Request, attributes: JsonObject
    ) -> Plain:
        body = request.body()
        if b'"answer"' in body and (answer := read_answer(body)) is not None:
            value = request.value()
            if (round_ := find_round(value, self.name)) is not None:
                round_.take(answer)
                return await self._continue_round(session, round_, request)
            if (call := self._calls.take(value.get("dialog_id", ""))) is not None:
                return await self._take_answer(session, call, answer, request)
        try:
            return await self._call_tool(session, body, request, attributes)
        except SessionLost:
            return await self._call_tool(session, body, request, attributes)

    async def _call_tool(
        self, session: McpSession, body: bytes, request: Request, attributes: JsonObject
    ) -> Plain:
        tool = await session.tool(self._tool, request.timeout)
        arguments = self._arguments.make_arguments(body, request, tool)
        if (effect := running_effect.get()) is not None and effect.fields is not None:
            arguments = effect.fields  # as they were approved
        outcome = await self._run_tool(session, tool, arguments, {}, request)
        return await self._finish_call(session, outcome, arguments, request, attributes)

    async def _continue_round(
        self, session: McpSession, round_: InputRound, request: Request
    ) -> Plain:
        """Ask the person the server's questions; call again once all are answered."""
        for _ in range(MAX_ROUNDS):
            if (question := round_.question()) is not None:
                kept = {PREFIX + self.name: msgspec.to_builtins(round_)}
                return check([{**question, "confidence": 1.0, "human_attributes": kept}])
            if not round_.requests:
                await asyncio.sleep(RETRY_SECONDS)
            tool = await session.tool(self._tool, request.timeout)
            result = await self._run_tool(
                session, tool, round_.arguments, round_.further(), request
            )
            if isinstance(result, OpenCall):
                raise BadReply("the server asks in two ways at once")
            if result.result_type != "input_required":
                return self._make_reply(result, {PREFIX + self.name: None})
            round_ = InputRound.read_round(result, round_.arguments)
        raise BadReply(f"the server asked {MAX_ROUNDS} times without a result")

    async def _take_answer(
        self, session: McpSession, call: OpenCall, answer: JsonObject, request: Request
    ) -> Plain:
        """Continue a call that was kept open for the person's answer."""
        form = call.form
        if form is not None:
            if gives_up(answer):
                call.answer(CANCELLED)
            else:
                form.take(answer)
                if (question := form.question()) is not None:
                    return self._park_call(call, question, request, {})
                call.answer(form.result())
        return await self._finish_call(session, await self._await_outcome(call), {}, request, {})

    async def _finish_call(
        self,
        session: McpSession,
        outcome: ToolResult | OpenCall,
        arguments: JsonObject,
        request: Request,
        attributes: JsonObject,
    ) -> Plain:
        """Return the result, or the server's question to the person."""
        if isinstance(outcome, OpenCall):
            question = outcome.form.question() if outcome.form is not None else None
            if question is None:
                raise BadReply("the server asks for nothing")
            return self._park_call(outcome, question, request, attributes)
        if outcome.result_type == "input_required":
            return await self._continue_round(
                session, InputRound.read_round(outcome, arguments), request
            )
        return self._make_reply(outcome, attributes)

    async def _run_tool(
        self,
        session: McpSession,
        tool: OfferedTool,
        arguments: JsonObject,
        further: JsonObject,
        request: Request,
    ) -> ToolResult | OpenCall:
        """Call the tool; return its result, or the open call if it waits for an answer."""
        id_ = session.next_id()
        calling = session.call(tool, arguments, further, id_, call_headers((request,)))
        if session.is_stateless:
            return await calling  # such a server asks by its result
        return await self._await_outcome(self._calls.start(id_, calling))

    async def _await_outcome(self, call: OpenCall) -> ToolResult | OpenCall:
        try:
            result = await call.outcome()
        except BaseException:
            self._calls.end(call)
            raise
        if result is None:
            return call
        self._calls.end(call)
        return result

    def _park_call(
        self, call: OpenCall, question: JsonObject, request: Request, attributes: JsonObject
    ) -> Plain:
        """Ask the person while the call is kept open."""
        dialog_id = request_dialog(request)
        if dialog_id is None:
            call.answer(CANCELLED)
            raise BadReply("the server asks the person, but the request belongs to no dialog")
        self._calls.park(call, dialog_id)
        kept = {"human_attributes": attributes} if attributes else {}
        return check([{**question, "confidence": 1.0, **kept}])

    def _make_reply(self, result: ToolResult, attributes: JsonObject) -> Plain:
        if self._returns == "value":
            return check(read_value(result))
        if not attributes:
            return read_reply(result, self._confidence)
        hypotheses = read_hypotheses(result, self._confidence)
        if hypotheses:
            own = hypotheses[0].get("human_attributes") or {}
            hypotheses[0]["human_attributes"] = {**own, **attributes}
        return check(hypotheses)

    def _forget_tools(self) -> None:
        self._sessions.forget_tools()


class McpTool(AgentOptions, frozen=True, kw_only=True):
    """A tool of an MCP server."""

    makes: ClassVar[Callable[..., Any]] = McpConnector

    describes: ClassVar[bool] = True

    url: Annotated[str, about("The address of the server.", what="a URL")] = ""
    run: Annotated[
        str | Annotated[Sequence[str], Meta(min_length=1)] | None,
        about(
            "The program that is the server, as one line or a list of words.",
            what="a command: a line, or a list of words",
        ),
    ] = None
    tool: Annotated[
        str | None, about("The tool; by default the only one, or the one called ask.")
    ] = None
    argument: Annotated[
        str | None,
        about("The argument that gets the person's words; by default as the tool's schema says."),
    ] = None
    arguments: Annotated[dict[str, Any] | None, about("Further arguments by name.")] = None
    returns: Annotated[
        Returns,
        about(
            "Whether a result becomes hypotheses, or is passed on unchanged, for "
            "annotators and other stages."
        ),
    ] = "hypotheses"
    confidence: Confidence = DEFAULT_CONFIDENCE
    key: BearerKey = None
    headers: Headers = None
    environment: Annotated[
        dict[str, str] | None,
        about("Variables of the program, beside those of the assistant."),
    ] = None
    protocol: Annotated[
        str | None,
        about('The version to speak, such as "2025-06-18"; by default the newest that both know.'),
    ] = None

    oauth: Annotated[
        OAuthSettings | None,
        about(
            "The way to sign in at a server that demands it; by default each person "
            "signs in by a link.",
            what="a map",
        ),
    ] = None

    folder: Annotated[
        str | os.PathLike[str] | None, about("The folder in which the program runs.", hidden=True)
    ] = None

    def build(self, context: ServiceContext) -> McpConnector:
        """Make the connector; raise `ConfigError` for options that do not fit together."""
        check_bounds(self)
        return McpConnector(self, name=context.name, records=context.records)

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Shake hands with a server and choose a tool: `ask`, or the first with a text argument."""
        if not probe.url.startswith("http"):
            return None
        is_named = probe.path.endswith("/mcp")
        url = probe.url if is_named else probe.append_query(f"{probe.base()}/mcp")
        tools = await _fetch_tools(url, probe)
        if not tools:
            return None
        asks = [one for one in tools if one.name == "ask"]
        tool = next(iter([*asks, *filter(_takes_text, tools)]), tools[0])
        others = [one.name for one in tools if one is not tool]
        return FoundService(
            what=f"an MCP server (its tool {tool.name})",
            name="" if tool.name == "ask" else tool.name,
            call={"url": url, "tool": tool.name},
            certainty=1.0 if is_named else 0.65,
            notes=[f"other tools are {', '.join(others[:20])}"] if others else [],
        )


async def _fetch_tools(url: str, probe: UrlProbe) -> list[ToolInfo]:
    """Return the tools of a server, or an empty list if there is no server."""
    headers = {"Authorization": f"Bearer {probe.key}"} if probe.key else {}
    peer = HttpPeer(
        url, headers=headers, asks=OpenCalls().answer_server, tools_changed=lambda: None
    )
    session = McpSession(peer)
    try:
        async with asyncio.timeout(RECOGNIZE_TIMEOUT):
            await session.agree(RECOGNIZE_TIMEOUT)
            tools = await session.tools()
    except (ServiceError, TimeoutError) as error:
        probe.note(f"MCP: {str(error) or 'no answer in time'}")
        return []
    finally:
        await session.aclose()
    if not tools:
        probe.note("MCP: it has no tools")
    return tools


def _takes_text(tool: ToolInfo) -> bool:
    properties = tool.input_schema.get("properties") or {}
    kinds = [one.get("type") for one in properties.values() if isinstance(one, dict)]
    return "string" in kinds or any(name in properties for name in ("text", "query", "question"))


def _names_authorization(headers: Mapping[str, str] | None) -> bool:
    """Return whether the configured headers contain a key."""
    return any(name.lower() == "authorization" for name in headers or ())
