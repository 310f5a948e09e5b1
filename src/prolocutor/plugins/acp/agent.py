"""AcpAgent: the assistant as the agent of an editor (Agent Client Protocol, version 1).

A session is a conversation of the person, a prompt is a turn. During the turn the editor sees the
called skills as tool calls, and the words as they arrive. An ask is shown as text; the next prompt
answers it. Source: https://agentclientprotocol.com, schema 1.19.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, BinaryIO, Final

import click
import msgspec
from msgspec import UNSET

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.runner import run
from prolocutor.background import BackgroundTasks
from prolocutor.cli.options import STORE_OPTION
from prolocutor.cli.owner import check_free
from prolocutor.cli.stdio_lines import StdioLines, take_pipes
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load_assistant
from prolocutor.config.settings import Settings
from prolocutor.config.store_location import store_url
from prolocutor.dialog.dialog import BotUtterance
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.turn_events import (
    Delta,
    Replaced,
    ReplyGiven,
    ServiceAsked,
    ServiceSettled,
    TurnEvent,
)
from prolocutor.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RpcFault,
    RpcMessage,
    read_message,
    read_params,
    rpc_failure,
    rpc_notification,
    rpc_result,
)
from prolocutor.plan.pipeline import Stage
from prolocutor.web.door_context import LOCAL
from prolocutor.web.error_table import error_response

VERSION: Final = 1
NOT_FOUND: Final = -32002
"""ACP's error code for an unknown resource."""

PREFIX: Final = "acp:"
ROWS: Final = 500
"""The most messages that a loaded session shows."""

_STATUS: Final = {"done": "completed", "skipped": "completed"}


class EditorHello(msgspec.Struct, rename="camel"):
    """The parameters of `initialize`."""

    protocol_version: int


class NamedSession(msgspec.Struct, rename="camel"):
    """The parameters that name a session."""

    session_id: str


class PromptBlock(msgspec.Struct):
    """A part of a prompt: a text or a link to a resource; other kinds are not supported."""

    type: str
    text: str = ""
    uri: str = ""


class SessionPromptParams(NamedSession):
    """The parameters of `session/prompt`."""

    prompt: list[PromptBlock] = []


class AcpAgent:
    """An assistant as the agent of an editor; `user` is the person who speaks."""

    def __init__(self, assistant: Assistant, *, user: str) -> None:
        self._assistant = assistant
        self._user = PREFIX + user
        self._lines = StdioLines()
        self._tasks = BackgroundTasks("prompt of an editor")
        self._sessions: set[str] = set()
        self._cancelled: set[str] = set()
        self._methods: dict[str, Callable[[RpcMessage], Awaitable[Any]]] = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": self._load,
            "session/prompt": self._prompt,
        }

    async def serve(self, read: BinaryIO, write: BinaryIO) -> None:
        """Answer lines until the input ends, then finish the running requests."""
        await self._lines.serve(read, write, self._take, self._tasks.wait_until_ended)

    def _take(self, line: bytes | None) -> None:
        try:
            if line is None:
                raise RpcFault(INVALID_REQUEST, "the line is too long")
            message = read_message(line)
        except RpcFault as fault:
            self._lines.send(rpc_failure(fault.id, fault))
            return
        if message.is_request:
            self._tasks.start(self._answer(message))
        elif message.method == "session/cancel":
            self._cancel(message)

    async def _answer(self, message: RpcMessage) -> None:
        id_ = None if message.id is UNSET else message.id
        try:
            answer = self._methods.get(str(message.method))
            if answer is None:
                raise RpcFault(METHOD_NOT_FOUND, "Method not found", message.method)
            self._lines.send(rpc_result(id_, await answer(message)))
        except RpcFault as fault:
            self._lines.send(rpc_failure(id_, fault))
        except Exception as error:
            what = error_response(error).error
            self._lines.send(rpc_failure(id_, RpcFault(INTERNAL_ERROR, what)))

    async def _initialize(self, message: RpcMessage) -> JsonObject:
        read_params(EditorHello, message)
        return {
            "protocolVersion": VERSION,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
            },
            "agentInfo": {"name": self._assistant.name, "version": version_of("prolocutor")},
            "authMethods": [],
        }

    async def _new(self, _: RpcMessage) -> JsonObject:
        session = new_id()
        self._sessions.add(session)
        return {"sessionId": session}

    async def _load(self, message: RpcMessage) -> JsonObject:
        """Show the editor the last messages of a session, and continue it."""
        session = read_params(NamedSession, message).session_id
        rows = await self._assistant.store.feed_tail(self._user, session, ROWS)
        if not rows and session not in self._sessions:
            raise _unknown_session(session)
        self._sessions.add(session)
        for row in rows:
            if row.message is not None:
                self._show_again(session, msgspec.json.decode(row.message))
        return {}

    async def _prompt(self, message: RpcMessage) -> JsonObject:
        params = read_params(SessionPromptParams, message)
        session = params.session_id
        if session not in self._sessions:
            raise _unknown_session(session)
        input = TurnInput(_prompt_text(params.prompt), self._user, session, channel="acp")
        turn = _ShownTurn(lambda update: self._update(session, update))
        stream = self._assistant.stream(input)
        async for event in stream:
            turn.take(event)
        is_cancelled = session in self._cancelled
        self._cancelled.discard(session)
        return {"stopReason": "cancelled" if is_cancelled else "end_turn"}

    def _cancel(self, message: RpcMessage) -> None:
        try:
            session = read_params(NamedSession, message).session_id
        except RpcFault:
            return
        if self._assistant.stop(self._user, session):
            self._cancelled.add(session)

    def _show_again(self, session: str, message: JsonObject) -> None:
        if message.get("type") == "command":
            kind, text = "user_message_chunk", str(message.get("command", ""))
        else:
            kind, text = "agent_message_chunk", said_as_text("", {"messages": [message]})
        if text:
            self._update(session, {"sessionUpdate": kind, "content": _content(text)})

    def _update(self, session: str, update: JsonObject) -> None:
        params = {"sessionId": session, "update": update}
        self._lines.send(rpc_notification("session/update", params))


class _ShownTurn:
    """The part of a turn that an editor has seen: words and called skills."""

    def __init__(self, show: Callable[[JsonObject], None]) -> None:
        self._show = show
        self._said = ""
        self._is_void = False
        self._turn = new_id()

    def take(self, event: TurnEvent) -> None:
        """Show an event of the turn."""
        match event:
            case ServiceAsked(service=name, stage=Stage.SKILL.value):
                self._show(
                    {
                        "sessionUpdate": "tool_call",
                        "toolCallId": f"{self._turn}/{name}",
                        "title": f"Asking {name}",
                        "kind": "other",
                        "status": "in_progress",
                    }
                )
            case ServiceSettled(service=name, stage=Stage.SKILL.value, outcome=outcome):
                self._show(
                    {
                        "sessionUpdate": "tool_call_update",
                        "toolCallId": f"{self._turn}/{name}",
                        "status": _STATUS.get(outcome, "failed"),
                    }
                )
            case Delta(text=text):
                self._say(text)
            case Replaced():
                self._is_void = bool(self._said)
            case ReplyGiven(utterance=reply):
                self._end(reply)

    def _say(self, text: str) -> None:
        if self._is_void:  # an editor cannot take words back: the new ones begin a new line
            text, self._said, self._is_void = f"\n\n{text}", "", False
        self._said += text
        self._show({"sessionUpdate": "agent_message_chunk", "content": _content(text)})

    def _end(self, reply: BotUtterance) -> None:
        """Show the rest of the reply: links, choices, and words that were not streamed."""
        whole = said_as_text(reply.text, reply.attributes)
        said = self._said.lstrip("\n") if self._said else ""
        if not self._is_void and said and whole.startswith(said):
            rest = whole[len(said) :]
        else:
            rest = whole
            self._is_void = bool(said)
        if rest:
            self._say(rest)


def _prompt_text(prompt: list[PromptBlock]) -> str:
    """Return the text of a prompt: its texts and the addresses of its links."""
    parts = [block.text if block.type == "text" else block.uri for block in prompt]
    text = "\n".join([part for part in parts if part.strip()])
    if not text:
        raise RpcFault(INVALID_PARAMS, "prompt has no text")
    return text


def _content(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _unknown_session(session: str) -> RpcFault:
    return RpcFault(NOT_FOUND, f"there is no session {session!r:.80}; session/new begins one")


@click.command(short_help="Offer an assistant to an editor (ACP), over stdio.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@STORE_OPTION
@click.option("--user", default=LOCAL, show_default=True, help="The person who speaks.")
def acp(file: Path | None, store: str | None, user: str) -> None:
    """Serve an assistant to the editor that starts this command: the demo, or FILE's.

    The editor talks over standard input and output (Agent Client Protocol, version 1); logs go to
    stderr.

    \b
    Example, as Zed's settings have it:
      {"agent_servers": {"Parrot": {"command": "prolocutor", "args": ["acp", "assistant.yaml"]}}}
    and by hand:
      prolocutor acp my-assistant/assistant.yaml
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    pipes = take_pipes()
    settings = load_assistant(file)
    url = store_url(store, settings)
    check_free(url)
    run(_serve(settings, url, user, pipes))


async def _serve(
    settings: Settings, store: str, user: str, pipes: tuple[BinaryIO, BinaryIO]
) -> None:
    async with build_assistant(settings, store=store) as assistant:
        await AcpAgent(assistant, user=user).serve(*pipes)
