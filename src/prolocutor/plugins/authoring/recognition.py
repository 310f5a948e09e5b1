"""Recognition of the service behind a URL: every connector with a probe is asked."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Final

import msgspec
from websockets.exceptions import ConnectionClosed

from prolocutor.connectors.connector_catalog import (
    CONNECTORS,
    SCHEMES,
    call_hint,
    convert_options,
    find_form,
)
from prolocutor.connectors.parts.connecting import (
    Network,
    address_network,
    connect_socket,
    reachable_networks,
)
from prolocutor.connectors.parts.http_answer import HttpReply
from prolocutor.connectors.parts.http_client import HttpClient, system_text
from prolocutor.connectors.parts.sockets import SocketAddress, SocketOpener
from prolocutor.connectors.parts.url import Url
from prolocutor.contracts.probe import FoundService, ProbeAnswer
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.errors import (
    BadInput,
    ConfigError,
    ProlocutorError,
    ServiceError,
    ServiceRefused,
    printable,
)
from prolocutor.plan.pipeline import Call

log = logging.getLogger(__name__)


ANSWER_TIMEOUT: Final = 5.0
"""Seconds to wait for one answer."""

FIRST_MESSAGE_TIMEOUT: Final = 2.0
"""Seconds to wait for a first message of a WebSocket."""

MAX_BODY: Final = 2_000_000
MAX_CONNECTIONS: Final = 4
MAX_TRIED: Final = 160
"""The largest number of characters noted of one try."""

CONNECTOR_TIMEOUT: Final = 15.0
"""Seconds for one connector to find out."""


class SharedProbe:
    """The probe of an address (`contracts.probe.UrlProbe`).

    `tried`: the tries and their outcomes. `is_refused`: a server asked for a key. `is_late`: an
    answer did not come in time. `leads_to`: the target of the address's redirect. Addresses named
    by a server, and its own later address, may not be less public than the server.
    """

    def __init__(self, url: Url, key: str | None) -> None:
        self.given: Final = msgspec.structs.replace(url, fragment="")
        self.url: Final = str(self.given)
        self.path: Final = url.path.rstrip("/")
        self.key: Final = key
        self.tried: list[str] = []
        self.is_refused = False
        self.is_late = False
        self.leads_to: str | None = None
        self._within: Collection[Network] | None = None
        self._clients: dict[str, HttpClient] = {}
        self._answers: dict[tuple[str, Url, bytes], ProbeAnswer] = {}
        self._asking: defaultdict[tuple[str, Url, bytes], asyncio.Lock] = defaultdict(asyncio.Lock)

    def base(self, *endings: str) -> str:
        """Return the address without query, closing slash, and the first of these endings."""
        path = next((self.path.removesuffix(e) for e in endings if self.path.endswith(e)), None)
        path = self.path if path is None else path
        return str(msgspec.structs.replace(self.given, path=path, query=""))

    def append_query(self, url: str) -> str:
        """Return an address with the query of the given address after its own query."""
        found, given = Url.read(url), self.given
        if not given.query or found.query == given.query:
            return url
        if not found.query:
            return str(msgspec.structs.replace(found, query=given.query))
        return str(found.replace_parameters(**{**given.parameters, **found.parameters}))

    async def is_there(self) -> bool:
        """Return whether somebody listens at the host and port of the address."""
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                connected = await connect_socket(self.given.host, self.given.port)
                self._within = reachable_networks(address_network(connected.getpeername()[0]))
                connected.close()
        except TimeoutError:
            self.note(f"{self.given.shown}: no answer within {ANSWER_TIMEOUT:g} s")
            return False
        except OSError as error:
            self.note(f"{self.given.shown}: {system_text(error)}")
            return False
        return True

    async def get(self, url: str) -> ProbeAnswer:
        """Return the answer to a GET."""
        return await self._once("GET", url, b"", lambda at: self._exchange("GET", at, b""))

    async def post(self, url: str, body: JsonObject) -> ProbeAnswer:
        """Return the answer to a POST of JSON."""
        sent = encode(body)
        return await self._once("POST", url, sent, lambda at: self._exchange("POST", at, sent))

    async def greet(self, url: str) -> ProbeAnswer:
        """Open a WebSocket and return the first message that it sends by itself, if any."""
        return await self._once("open", url, b"", self._listen_at)

    def note(self, tried: str) -> None:
        """Note a try, as a line and without the page's text."""
        self.tried.append(printable(" ".join(tried.partition("<")[0].split()))[:MAX_TRIED])

    async def aclose(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.aclose()

    def statuses(self) -> list[int]:
        """Return the status codes of all HTTP answers, each once."""
        return sorted({answer.status for answer in self._answers.values() if answer.status})

    async def _once(
        self, how: str, url: str, body: bytes, ask: Callable[[Url], Awaitable[ProbeAnswer]]
    ) -> ProbeAnswer:
        at = Url.read(self.append_query(url))
        what = (how, at, body)
        async with self._asking[what]:
            if what not in self._answers:
                try:
                    async with asyncio.timeout(ANSWER_TIMEOUT):
                        self._answers[what] = await ask(at)
                        came = f"status {self._answers[what].status}"
                except TimeoutError:
                    self._answers[what], came = (
                        ProbeAnswer(0),
                        f"no answer within {ANSWER_TIMEOUT:g} s",
                    )
                    self.is_late = True
                except (ServiceError, ConfigError) as error:
                    status = error.status if isinstance(error, ServiceRefused) else 0
                    self._answers[what], came = ProbeAnswer(status or 0), str(error)
                if self._answers[what].status in (401, 403):
                    self.is_refused = True
                self.note(f"{how} {at.shown}: {came}")
        return self._answers[what]

    async def _exchange(self, method: str, at: Url, body: bytes) -> ProbeAnswer:
        if at.scheme not in ("http", "https"):
            raise ConfigError("this is not an address of HTTP")
        reply = await self._client(at).exchange(
            body,
            {"Content-Type": "application/json"} if body else {},
            max_bytes=MAX_BODY,
            method=method,
            target=at.target,
        )
        if reply.is_redirect and at == self.given:
            self.leads_to = _redirect_target(reply, at) or self.leads_to
        return ProbeAnswer(reply.status, reply.body)

    def _client(self, at: Url) -> HttpClient:
        """Return the client of a server; the key goes to that of the given address alone."""
        origin = at.origin
        if origin not in self._clients:
            own = origin == self.given.origin
            bearer = {"Authorization": f"Bearer {self.key}"} if self.key and own else {}
            self._clients[origin] = HttpClient(
                at, headers=bearer, max_connections=MAX_CONNECTIONS, within=self._within
            )
        return self._clients[origin]

    async def _listen_at(self, at: Url) -> ProbeAnswer:
        opener = SocketOpener(
            SocketAddress(str(at), key=self.key), max_message=MAX_BODY, ping=0, within=self._within
        )
        socket = await opener.open()
        try:
            try:
                async with asyncio.timeout(FIRST_MESSAGE_TIMEOUT):
                    first = await socket.recv(decode=False)
            except (TimeoutError, ConnectionClosed):
                first = b""
            return ProbeAnswer(101, first)
        finally:
            await socket.close()


def _redirect_target(reply: HttpReply, at: Url) -> str | None:
    location = reply.headers.get(b"location")
    try:
        return None if location is None else at.join(location.decode("latin-1")).shown
    except ValueError:
        return None


class NotRecognized(ProlocutorError):
    """No known service is behind a URL; `tried` has a line on the outcome of each try."""

    code = "not_recognised"

    def __init__(self, what: str, tried: Sequence[str]) -> None:
        super().__init__(what)
        self.tried = tried


async def recognize(
    url: str, *, key: str | None = None, connector: str | None = None
) -> FoundService:
    """Return the service behind a URL; raise `NotRecognized` if it is unknown.

    `key` is sent as a bearer token. With a `connector` the service is taken to be this connector's,
    whatever the answer. Raise `BadInput` for an invalid URL.
    """
    try:
        given = Url.read(url)
    except ValueError as error:
        hint = call_hint(url) or str(error)
        raise BadInput(f"{url!r} is not a URL of http, https, ws or wss; {hint}") from None
    probe = SharedProbe(given, key)
    try:
        if connector is not None:
            return await _take_reading(connector, probe)
        if not await probe.is_there():
            what = f"nothing answers at {probe.tried[-1]}\n--as NAME adds it all the same"
            raise NotRecognized(what, probe.tried)
        kinds = _kinds_that_recognize(probe)
        found = await asyncio.gather(*(_ask(name, kind, probe) for name, kind in kinds.items()))
    finally:
        await probe.aclose()
    surest = max(filter(None, found), key=lambda one: one.certainty, default=None)
    if surest is None:
        raise NotRecognized(_refusal(probe), probe.tried)
    return surest


def _kinds_that_recognize(probe: SharedProbe) -> dict[str, Any]:
    """Return the options of all connectors that recognize their services, by name."""
    kinds = {}
    for name in CONNECTORS.names():
        try:
            kinds[name] = CONNECTORS.load(name)
        except ConfigError as error:  # a missing library
            probe.note(str(error))
    return {name: kind for name, kind in kinds.items() if hasattr(kind, "recognize")}


async def _ask(name: str, kind: Any, probe: SharedProbe) -> FoundService | None:
    """Ask a connector; its failure does not keep the others from an answer."""
    try:
        async with asyncio.timeout(CONNECTOR_TIMEOUT):
            found: FoundService | None = await kind.recognize(probe)
    except TimeoutError:
        probe.note(f"{name}: not done within {CONNECTOR_TIMEOUT:g} s")
        return None
    except Exception as error:  # a plug-in of others
        log.debug("the connector %s cannot recognize %s", name, probe.given.shown, exc_info=True)
        probe.note(f"{name}: {error!r}")
        return None
    return None if found is None else _complete_reading(found, name, kind, probe)


async def _take_reading(name: str, probe: SharedProbe) -> FoundService:
    """Return the reading of the address by the connector of this name, right or not."""
    kind = CONNECTORS.load(name)
    if find_form(kind).main != "url":
        raise BadInput(f"the connector {name} is not called by an address", field="as")
    found = await _ask(name, kind, probe) if hasattr(kind, "recognize") else None
    if found is None:
        note = "nothing was found there that says so"
        found = FoundService(what=f"taken for {name}", call=probe.url, notes=[note])
        found = _complete_reading(found, name, kind, probe)
    options = found.call if isinstance(found.call, dict) else {"url": found.call}
    convert_options(kind, Call("", name, options))  # which raises where it is not enough
    return found


def _complete_reading(
    service: FoundService, name: str, kind: Any, probe: SharedProbe
) -> FoundService:
    """Return the reading with its name, its connector, and the query of the address."""
    call: Any = service.call
    if isinstance(call, dict) and isinstance(call.get("url"), str):
        call = {**call, "url": probe.append_query(call["url"])}
    elif isinstance(call, str):
        call = probe.append_query(call)
    is_plain = isinstance(call, str) and _is_of_scheme(call, kind)
    return msgspec.structs.replace(
        service,
        what=printable(service.what),
        notes=[printable(note) for note in service.notes],
        call=call,
        name=_slug(service.name or f"{name}_{probe.given.host}"),
        connector=None if is_plain else name,
    )


def _is_of_scheme(call: str, kind: Any) -> bool:
    """Return whether an address without a name means this connector."""
    scheme = call.partition("://")[0]
    return scheme in SCHEMES.names() and SCHEMES.load(scheme) is kind


def _refusal(probe: SharedProbe) -> str:
    """Return at most three lines: nothing was found, and the possible remedies."""
    lines = [f"nothing that is known is at {probe.given.shown}"]
    if probe.leads_to is not None:
        lines.append(f"it redirects to {probe.leads_to}: give that address")
    elif probe.is_refused:
        lines.append("it wants a key: name its variable by --key NAME")
    elif probe.is_late:
        lines.append(f"some requests had no answer in time, within {ANSWER_TIMEOUT:g} s")
    elif statuses := probe.statuses():
        lines.append(f"it answers with status {' or '.join(map(str, statuses))}")
    lines.append("--as NAME names its connector, --verbose shows what was tried")
    return "\n".join(lines)


def _slug(text: str) -> str:
    """Return a name for a service: small letters, digits and lines."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")[:60] or "agent"
