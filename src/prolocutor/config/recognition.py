"""What is behind a URL: it is asked, in the ways of all protocols that are known, what it is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from websockets.exceptions import WebSocketException

from prolocutor.config.call_hints import call_hint
from prolocutor.config.url_probe import SECONDS, UrlProbe
from prolocutor.connectors.parts.sockets import SocketAddress, SocketOpener
from prolocutor.connectors.parts.url import Url
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import MAX_BYTES, JsonObject, decode
from prolocutor.errors import BadInput, ConfigError, ProlocutorError, ServiceError, ServiceRefused
from prolocutor.plugins.mcp.connector.http_peer import HttpPeer
from prolocutor.plugins.mcp.connector.open_calls import OpenCalls
from prolocutor.plugins.mcp.connector.session import McpSession
from prolocutor.plugins.mcp.wire.tools import ToolInfo

CARDS: Final = ("/.well-known/agent-card.json", "/.well-known/agent.json")
WEBHOOK: Final = "/webhooks/rest/webhook"


class FoundService(msgspec.Struct, kw_only=True):
    """What was found: `what` it is in words, and how it is called in a file.

    `name` is one that suits it, `notes` are what else is to be said. Without a `connector` the
    call is a plain URL.
    """

    what: str
    name: str
    connector: str | None
    call: str | JsonObject
    timeout: int = 10
    notes: list[str] = []


class NotRecognised(ProlocutorError):
    """Nothing that is known is behind a URL; the text says what was tried, and what came of it."""

    code = "not_recognised"


Look = Callable[[], Awaitable[FoundService | None]]


async def recognise(url: str, *, key: str | None = None) -> FoundService:
    """Return what is behind a URL; raise `NotRecognised` if nothing is that is known.

    `key` is sent as a bearer token. `BadInput` for what is no URL.
    """
    try:
        given = Url.read(url)
    except ValueError as error:
        hint = call_hint(url) or str(error)
        raise BadInput(f"{url!r} is no URL of http, https, ws or wss; {hint}") from None
    found = _Recognition(given, key)
    try:
        return await found.find()
    finally:
        await found.probe.aclose()


class _Recognition:
    """One URL that is asked what it is."""

    def __init__(self, url: Url, key: str | None) -> None:
        self._url = msgspec.structs.replace(url, fragment="")
        self._path = url.path.rstrip("/")
        self._key = key
        self._bearer = {"Authorization": f"Bearer {key}"} if key else {}
        self.probe = self._probe = UrlProbe(url, self._bearer)

    async def find(self) -> FoundService:
        """Try all ways, those first that the path speaks for."""
        if self._url.scheme in ("ws", "wss"):
            found = await self._socket()
        else:
            if not await self._is_there():
                raise NotRecognised(f"nothing answers at {self._url}: {self._probe.tried[-1]}")
            ways: list[tuple[str, Look]] = [
                ("card", self._card),
                (WEBHOOK, self._rasa),
                ("/model/parse", self._rasa),
                ("/mcp", self._mcp),
                ("/conversation", self._almond),
                ("/v1", self._models),
                ("/completions", self._models),
                ("", self._own),
                ("", self._card),
                ("", self._models),
                ("", self._mcp),
                ("", self._rasa),
                ("", self._almond),
                ("", self._native),
            ]
            spoken = [way for hint, way in ways if hint and self._speaks_for(hint)]
            found = None
            for way in dict.fromkeys([*spoken, *(way for hint, way in ways if not hint)]):
                if (found := await way()) is not None:
                    break
        if found is not None:
            return found
        hint = "; it wants a key: name its variable by --key" if self._probe.is_refused else ""
        raise NotRecognised(
            f"nothing that is known is at {self._url}{hint}. Tried: " + "; ".join(self._probe.tried)
        )

    def _speaks_for(self, hint: str) -> bool:
        if hint == "card":
            return self._path.endswith((*CARDS, ".json", "/a2a"))
        return self._path.endswith(hint)

    async def _is_there(self) -> bool:
        return (await self._probe.get(self._url)).status != 0

    async def _own(self) -> FoundService | None:
        """An assistant of ours: its models say so."""
        base = self._base("/v1/chat/completions", "/v1/models", "/v1")
        told = (await self._probe.get(_below(base, "/v1/models"))).json()
        models = _models_of(told)
        own = [one for one in models if one.get("owned_by") == "prolocutor"]
        if not own:
            return None
        name = str(own[0].get("id", "assistant"))
        skills = [str(one["id"]).removeprefix(f"{name}/") for one in own[1:] if "id" in one]
        notes = [f"its skills are {', '.join(skills)}"] if skills else []
        return self._made("an assistant of Prolocutor", name, "prolocutor", base, notes=notes)

    async def _card(self) -> FoundService | None:
        """An agent that speaks A2A: it has a card."""
        places = [self._url] if self._path.endswith(".json") else []
        bases = [self._url.bare(), self._url.bare().with_path("/")]
        places += [_below(base, card) for base in bases for card in CARDS]
        for place in dict.fromkeys(places):
            card = (await self._probe.get(place)).json()
            if not isinstance(card, dict) or not isinstance(card.get("name"), str):
                continue
            if not {"supportedInterfaces", "url", "protocolVersion"} & card.keys():
                continue
            at = place.path
            base = next((at.removesuffix(one) for one in CARDS if at.endswith(one)), None)
            url = place if base is None else place.with_path(base or "/")
            about = str(card.get("description", "")).strip()
            notes = [f"it says of itself: {about[:200]}"] if about else []
            return self._made("an A2A agent", card["name"], "a2a", url, notes=notes)
        return None

    async def _models(self) -> FoundService | None:
        """A server of models, as OpenAI's."""
        ends = ("/chat/completions", "/responses", "/models")
        base = self._base(*ends)
        bases = [base] if base.path.endswith("/v1") else [_below(base, "/v1"), base]
        for one in bases:
            ids = [
                str(m["id"])
                for m in _models_of((await self._probe.get(_below(one, "/models"))).json())
                if "id" in m
            ]
            if ids:
                responds = self._path.endswith("/responses")
                call = {
                    "url": _text(_below(one, "/responses") if responds else one),
                    "model": ids[0],
                }
                others = f"other models are {', '.join(ids[1:10])}"
                return FoundService(
                    what=f"a server of models, as OpenAI's ({ids[0]})",
                    name=_slug(ids[0].rpartition("/")[2]),
                    connector="openai_chat",
                    call=call,
                    timeout=30,
                    notes=[others] if ids[1:] else [],
                )
        return None

    async def _mcp(self) -> FoundService | None:
        """A server of tools."""
        url = self._url if self._path.endswith("/mcp") else _below(self._base(), "/mcp")
        peer = HttpPeer(
            str(url), headers=self._bearer, asks=OpenCalls().asked, tools_changed=lambda: None
        )
        session = McpSession(peer)
        try:
            async with asyncio.timeout(SECONDS):
                await session.agree(SECONDS)
                tools = await session.tools()
        except (ServiceError, TimeoutError) as error:
            self._probe.tried.append(f"MCP at {url}: {str(error) or 'no answer in time'}")
            return None
        finally:
            await session.aclose()
        if not tools:
            self._probe.tried.append(f"MCP at {url}: it has no tools")
            return None
        tool = next((one for one in tools if one.name == "ask"), None) or next(
            filter(_takes_text, tools), tools[0]
        )
        others = [one.name for one in tools if one is not tool]
        return FoundService(
            what=f"an MCP server (its tool {tool.name})",
            name=_slug(tool.name if tool.name != "ask" else f"mcp_{self._host()}"),
            connector="mcp",
            call={"url": str(url), "tool": tool.name},
            notes=[f"other tools are {', '.join(others[:20])}"] if others else [],
        )

    async def _rasa(self) -> FoundService | None:
        """A bot of Rasa: its status, its version, or the health of its REST channel says so."""
        base = self._base(WEBHOOK, "/model/parse")
        status = (await self._probe.get(_below(base, "/status"))).json()
        version = (await self._probe.get(_below(base, "/version"))).json()
        health = (await self._probe.get(_below(base, "/webhooks/rest/"))).json()
        hello = await self._probe.get(base)
        is_rasa = (
            (isinstance(status, dict) and _STATUS & status.keys())
            or (isinstance(version, dict) and "minimum_compatible_version" in version)
            or b"from Rasa" in hello.body
            or health == {"status": "ok"}
        )
        if not is_rasa and not await self._speaks_rasa():
            return None
        parses = self._path.endswith("/model/parse")
        url = self._url if parses else _below(base, WEBHOOK)
        notes = ["it is a model: put it under annotators"] if parses else []
        return self._made("a Rasa bot", f"rasa_{self._host()}", "rasa", url, notes=notes)

    async def _speaks_rasa(self) -> bool:
        """Say hello at the webhook, where the URL is one."""
        if not self._path.endswith(WEBHOOK):
            return False
        said = (await self._probe.post(self._url, {"sender": "probe", "message": "hello"})).json()
        messages = said if isinstance(said, list) else []
        return any(isinstance(one, dict) and "recipient_id" in one for one in messages)

    async def _almond(self) -> FoundService | None:
        """An Almond: it opens a conversation."""
        at = self._url
        if not self._path.endswith("/conversation"):
            at = _below(self._base(), "/api/conversation")
        scheme = "wss" if at.is_secure else "ws"
        return await self._conversation(msgspec.structs.replace(at, scheme=scheme))

    async def _socket(self) -> FoundService | None:
        """An Almond if it opens a conversation by itself, else lines of JSON."""
        found = await self._conversation(self._url)
        if (
            found is not None
            or self._probe.is_refused
            or not self._probe.tried[-1].endswith(": opened")
        ):
            return found
        notes = ["it is taken for a service that answers lines of JSON; it said nothing by itself"]
        name = f"socket_{self._host()}"
        return self._made("a WebSocket", name, "websocket", self._url, notes=notes)

    async def _conversation(self, url: Url) -> FoundService | None:
        probe = url.with_parameters(id=f"probe-{new_id()}", hide_welcome="1", skip_history="1")
        try:
            address = SocketAddress(str(probe), key=self._key)
            opener = SocketOpener(address, max_message=MAX_BYTES, ping=0)
            async with asyncio.timeout(SECONDS), await opener.open() as socket:
                self._probe.tried.append(f"{url}: opened")
                async with asyncio.timeout(2.0):
                    frame = decode(await socket.recv(decode=False))
        except ServiceRefused as error:
            self._probe.note(url, error.status or 0)
            return None
        except (
            ServiceError,
            ConfigError,
            WebSocketException,
            OSError,
            ValueError,
            RecursionError,
        ) as error:
            if not self._probe.tried or not self._probe.tried[-1].endswith(": opened"):
                self._probe.tried.append(f"{url}: {str(error) or type(error).__name__}")
            return None
        kind = frame.get("type") if isinstance(frame, dict) else None
        if kind not in ("id", "askSpecial", "text"):
            return None
        return self._made("an Almond", f"almond_{self._host()}", "almond", url)

    async def _native(self) -> FoundService | None:
        """A service of our own wire: it answers a turn with a hypothesis."""
        reply = (await self._probe.post(self._url, _TURN)).json()
        first = reply[0] if isinstance(reply, list) and reply else reply
        if not isinstance(first, dict) or "text" not in first or "confidence" not in first:
            return None
        name = _slug(self._path.rpartition("/")[2] or self._host())
        return FoundService(
            what="a native HTTP service, which answered hello",
            name=name, connector=None, call=_text(self._url), timeout=5,
        )  # fmt: skip

    def _made(
        self, what: str, name: str, connector: str, url: Url, *, notes: list[str] | None = None
    ) -> FoundService:
        return FoundService(
            what=what,
            name=_slug(name),
            connector=connector,
            call=_text(url),
            notes=notes or [],
        )

    def _base(self, *ends: str) -> Url:
        """Return the URL without the first of these ends that its path has, and without a query."""
        path = next(
            (self._path.removesuffix(e) for e in ends if self._path.endswith(e)), self._path
        )
        return self._url.bare().with_path(path or "/")

    def _host(self) -> str:
        return self._url.host.replace(".", "_")


_STATUS: Final = frozenset({"model_file", "model_id", "fingerprint", "num_active_training_jobs"})
_TURN: Final[JsonObject] = {
    "dialog_id": "0" * 32,
    "turn_id": "0" * 32,
    "service": "probe",
    "utterances": [{"text": "hello", "attributes": {}, "annotations": {}}],
    "human_utterances": [{"text": "hello", "attributes": {}, "annotations": {}}],
    "bot_utterances": [],
    "human": {"attributes": {}, "user_external_id": "probe"},
    "bot": {"attributes": {}},
}


def _below(base: Url, path: str) -> Url:
    return base.with_path(base.path.rstrip("/") + path)


def _text(url: Url) -> str:
    return str(url).rstrip("/") if url.target == "/" else str(url)


def _models_of(told: Any) -> list[JsonObject]:
    data = told.get("data") if isinstance(told, dict) else None
    return [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []


def _takes_text(tool: ToolInfo) -> bool:
    properties = (tool.input_schema or {}).get("properties") or {}
    kinds = [one.get("type") for one in properties.values() if isinstance(one, dict)]
    return "string" in kinds or any(name in properties for name in ("text", "query", "question"))


def _slug(text: str) -> str:
    """Return a name for a service: small letters, digits and lines."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")[:60] or "agent"
