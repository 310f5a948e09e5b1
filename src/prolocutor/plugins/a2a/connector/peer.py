"""A2aPeer: an agent, found by its card, which is cached and revalidated by its ETag."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal
from urllib.parse import urljoin

import msgspec

from prolocutor.connectors.parts.connecting import Network
from prolocutor.connectors.parts.http_client import MAX_CONNECTIONS, HttpClient, refusal_text
from prolocutor.connectors.parts.url import Url, http_url
from prolocutor.dialog.plain import MAX_BYTES
from prolocutor.errors import BadReply, ServiceError, ServiceRefused
from prolocutor.plugins.a2a.connector.endpoint import AgentEndpoint, interface_headers
from prolocutor.plugins.a2a.wire.card import AgentCard, AgentInterface, read_card
from prolocutor.plugins.a2a.wire.core import CARD_PATH, JSONRPC, REST, VERSION, VERSION_HEADER

log = logging.getLogger(__name__)

MAX_AGE: Final = 300.0
"""Seconds after which a card is asked for again."""

OLD_PATH: Final = "/.well-known/agent.json"
_EVERYWHERE: Final = ("0.0.0.0", "::")
_HERE: Final = ("localhost", "127.0.0.1", "::1")
_ORDER: Final = ((False, JSONRPC), (False, REST), (True, JSONRPC), (True, REST))

Binding = Literal["JSONRPC", "HTTP+JSON"]
ProtocolVersion = Literal["1.0", "0.3"]


class A2aPeer:
    """The agent behind a URL, which is its address or the address of its card.

    Of the interfaces on the card version 1.0 is preferred to 0.3 and JSON-RPC to REST, unless
    `binding` or `version` decides. `headers` are sent to the host of the URL only, as they may be
    secret. `max_age` is the lifetime of a cached card in seconds. An agent may not be in a less
    public network than its first card.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        binding: Binding | None = None,
        version: ProtocolVersion | None = None,
        tenant: str | None = None,
        max_age: float = MAX_AGE,
    ) -> None:
        self._url = http_url(url)
        self._headers = headers
        self._binding = binding
        self._version = version
        self._tenant = tenant
        self._max_age = max_age
        self._within: Collection[Network] | None = None
        self._clients: dict[str, HttpClient] = {}
        self._lock = asyncio.Lock()
        self._card: AgentCard | None = None
        self._endpoint: AgentEndpoint | None = None
        self._found_at: Url | None = None
        self._etag: str | None = None
        self._until = 0.0

    async def endpoint(self) -> AgentEndpoint:
        """Return the agent's endpoint; raise `ServiceError` if its card cannot be fetched."""
        if self._endpoint is None or time.monotonic() > self._until:
            async with self._lock:
                if self._endpoint is None or time.monotonic() > self._until:
                    await self._look_up()
        assert self._endpoint is not None
        return self._endpoint

    async def card(self) -> AgentCard:
        """Return the agent's card."""
        await self.endpoint()
        assert self._card is not None
        return self._card

    def doubt(self) -> None:
        """Fetch the card again before the next message, as the agent may have moved."""
        self._until = 0.0

    async def aclose(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.aclose()

    # -- the card ---------------------------------------------------------------------------

    async def _look_up(self) -> None:
        """Fetch the card; if that fails, keep the cached card."""
        try:
            card = await self._fetch_card()
        except ServiceError:
            if self._endpoint is None:
                raise
            log.warning("the card of the agent at %s cannot be read again", self._url.host)
            card = None
        self._until = time.monotonic() + self._max_age
        if card is not None:
            endpoint = self._made(card)
            self._card, self._endpoint = card, endpoint

    async def _fetch_card(self) -> AgentCard | None:
        """Return the card from its address, None if it has not changed."""
        found_at = self._found_at
        if found_at is not None:
            try:
                return await self._read_card(found_at)
            except ServiceRefused as error:
                if error.status not in (404, 405):
                    raise
        places = self._places()
        for place in places[:-1]:
            try:
                return await self._read_card(place)
            except ServiceRefused as error:
                if error.status not in (404, 405):
                    raise
            except BadReply:
                continue
        return await self._read_card(places[-1])

    def _places(self) -> Sequence[Url]:
        """Return the possible addresses of a card: the URL, below it, at the root of its host."""
        url = self._url
        if url.path.endswith(".json"):
            return [url]
        below = [url.replace_path(url.path.rstrip("/") + path) for path in (CARD_PATH, OLD_PATH)]
        root = url.replace_path(CARD_PATH)
        return list(dict.fromkeys([below[0], *([url] if url.path != "/" else []), below[1], root]))

    async def _read_card(self, place: Url) -> AgentCard | None:
        headers = {**self._headers, VERSION_HEADER: VERSION, "Accept": "application/json"}
        if self._etag is not None and place == self._found_at:
            headers["If-None-Match"] = self._etag
        client = self._client(place, place.origin, {})
        reply = await client.exchange(
            b"", headers, max_bytes=MAX_BYTES, method="GET", target=place.target
        )
        self._within = self._within or client.confine()
        if reply.status == 304 and self._card is not None:
            return None
        if reply.status // 100 != 2:
            raise ServiceRefused(f"its card: {refusal_text(reply)}", status=reply.status)
        card = read_card(reply.body)
        etag = reply.headers.get(b"etag")
        self._etag = None if etag is None else etag.decode("latin-1")
        self._found_at = place
        return card

    # -- the address ------------------------------------------------------------------------

    def _made(self, card: AgentCard) -> AgentEndpoint:
        interface = self._choose_interface(card)
        url = self._reachable(interface.url)
        own = url.host == self._url.host
        if not own and self._headers:
            log.warning("the agent of %s is at %s, which gets no key", self._url.host, url.host)
        headers = {**(self._headers if own else {}), **interface_headers(interface)}
        client = self._client(url, f"{interface.binding} {interface.version} {url}", headers)
        return AgentEndpoint(interface, client, streams=card.capabilities.streaming)

    def _choose_interface(self, card: AgentCard) -> AgentInterface:
        for is_legacy, binding in _ORDER:
            if self._binding not in (None, binding):
                continue
            if self._version is not None and is_legacy != (self._version != VERSION):
                continue
            for interface in card.interfaces:
                if interface.is_legacy == is_legacy and interface.binding.upper() == binding:
                    tenant = interface.tenant if self._tenant is None else self._tenant
                    return AgentInterface(interface.url, binding, interface.version, tenant)
        there = (
            ", ".join(f"{interface.binding} {interface.version}" for interface in card.interfaces)
            or "none"
        )
        raise BadReply(f"its card has no address that can be used here: {there}")

    def _reachable(self, address: str) -> Url:
        """Return an address; replace `localhost` on a remote card by the card's host."""
        there = http_url(urljoin(str(self._url), address))
        elsewhere = self._url.host not in _HERE and there.host in _HERE
        if there.host in _EVERYWHERE or elsewhere:
            return msgspec.structs.replace(there, host=self._url.host)
        return there

    def _client(self, url: Url, key: str, headers: Mapping[str, str]) -> HttpClient:
        """Return the HTTP client of an address; user and password of the URL stay on its host."""
        if key not in self._clients:
            target = url
            if url.host == self._url.host and self._url.user is not None and not url.user:
                user, password = self._url.user, self._url.password
                target = msgspec.structs.replace(url, user=user, password=password)
            self._clients[key] = HttpClient(
                target, headers=headers, max_connections=MAX_CONNECTIONS, within=self._within
            )
        return self._clients[key]
