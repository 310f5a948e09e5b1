"""A2aConnector: an agent that speaks A2A as a skill.

Source: the A2A protocol, versions 1.0 and 0.3, over JSON-RPC and REST. The agent's context is our
dialog. A question of the agent (`INPUT_REQUIRED`) becomes an ask, whose context in the dialog's
round names the task, so the connector keeps no state between turns.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import urljoin

import msgspec

from prolocutor.asks.answer_forms import GIVEN_UP
from prolocutor.background import BackgroundTasks
from prolocutor.bounds import Seconds, about
from prolocutor.connectors.parts.connecting import Network
from prolocutor.connectors.parts.http_client import MAX_CONNECTIONS, HttpClient, refusal_text
from prolocutor.connectors.parts.network_calls import call_headers, each_alone
from prolocutor.connectors.parts.url import Url, http_url
from prolocutor.contracts.calls import running_effect
from prolocutor.contracts.connector import (
    AgentOptions,
    BearerKey,
    Confidence,
    Headers,
    Replies,
    Request,
)
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.plain import MAX_BYTES, JsonObject, Plain, check
from prolocutor.errors import (
    BadReply,
    ServiceError,
    ServiceRefused,
    ServiceUnreachable,
)
from prolocutor.plugins.a2a.connector.answering import read_hypotheses
from prolocutor.plugins.a2a.connector.asking import AgentQuestion, read_question
from prolocutor.plugins.a2a.connector.endpoint import AgentEndpoint, AgentRefusal, interface_headers
from prolocutor.plugins.a2a.connector.gathering import GatheredAnswer
from prolocutor.plugins.a2a.wire.card import AgentCard, AgentInterface, read_card
from prolocutor.plugins.a2a.wire.core import (
    CARD_PATH,
    JSONRPC,
    REST,
    RUNNING,
    VERSION,
    VERSION_HEADER,
)

MAX_AGE: Final = 300.0
"""Seconds after which a card is asked for again."""

OLD_PATH: Final = "/.well-known/agent.json"
_EVERYWHERE: Final = ("0.0.0.0", "::")
_HERE: Final = ("localhost", "127.0.0.1", "::1")
_ORDER: Final = ((False, JSONRPC), (False, REST), (True, JSONRPC), (True, REST))

Binding = Literal["JSONRPC", "HTTP+JSON"]
ProtocolVersion = Literal["1.0", "0.3"]

log = logging.getLogger(__name__)

DEFAULT_CONFIDENCE: Final = 0.5
POLLING: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.0)
"""Seconds between looks at a task that runs on; the last goes on."""

CANCEL_TIMEOUT: Final = 5.0
"""Seconds for a task to be cancelled that nobody waits for any more."""

_INVALID_PARAMS: Final = -32602


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


class A2aConnector:
    """The way to the agent behind `url`: its address, or that of its card.

    The agent gets the person's words in the context of the dialog; with a formatter, the
    formatter's result: a text, or `{text?, parts?, context_id?, metadata?}`. Cancelling a call
    cancels its task.
    """

    def __init__(self, options: A2aAgent, *, name: str) -> None:
        self.name = name
        self._confidence = options.confidence
        self._streams = options.stream
        bearer = {"Authorization": f"Bearer {options.key}"} if options.key else {}
        self._peer = A2aPeer(
            options.url,
            headers={**(options.headers or {}), **bearer},
            binding=options.binding,
            version=options.version,
            tenant=options.tenant,
            max_age=options.max_age,
        )
        self._leaving = BackgroundTasks("cancelling of a task")

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Send a message for each request."""
        return await each_alone(self._ask, requests)

    async def preview(self, request: Request) -> JsonObject:
        """Return the arguments that a call would send: the members of its data parts."""
        data = read_question(request.value(), self.name).data
        return {"fields": data, "changeable": bool(data)}

    async def describe(self) -> JsonObject:
        """Return `description` and `examples` from the agent's card, of all its skills."""
        return (await self._peer.card()).describe_skills()

    async def aclose(self) -> None:
        """Wait until abandoned tasks are cancelled, then close the connections."""
        await self._leaving.wait_until_ended(CANCEL_TIMEOUT)
        await self._peer.aclose()

    async def _ask(self, request: Request) -> Plain:
        question = read_question(request.value(), self.name)
        if (effect := running_effect.get()) is not None:
            question.take_effect(effect.key, effect.fields)
        endpoint = await self._peer.endpoint()
        if question.is_cancelled:
            if question.waiting is not None:
                await self._cancel(endpoint, question.waiting.task, "")
            return check([{"text": GIVEN_UP, "confidence": 1.0}] if question.is_given_up else [])
        try:
            answer = await self._answer(endpoint, question, request)
        except (ServiceUnreachable, ServiceRefused):
            self._peer.doubt()
            raise
        return check(read_hypotheses(answer, question, self.name, self._confidence))

    async def _answer(
        self, endpoint: AgentEndpoint, question: AgentQuestion, request: Request
    ) -> GatheredAnswer:
        """Send the message; if the agent refuses its task or context, send it without them."""
        task, context = question.waiting is not None, True
        while True:
            try:
                return await self._sent(endpoint, question, request, task=task, context=context)
            except AgentRefusal as error:
                if task and error.is_gone:
                    task = False
                elif context and not question.own_context and error.number == _INVALID_PARAMS:
                    task = context = False
                else:
                    raise

    async def _sent(
        self,
        endpoint: AgentEndpoint,
        question: AgentQuestion,
        request: Request,
        *,
        task: bool,
        context: bool,
    ) -> GatheredAnswer:
        answer = GatheredAnswer(request.deltas)
        message = question.message(request.key, task=task, context=context)
        headers = call_headers((request,))
        streams = self._streams and endpoint.streams
        try:
            whole = await endpoint.send(message, headers, answer.take, streams=streams)
            if not whole and not answer.task_id:
                raise ServiceUnreachable("the stream broke off in the middle of the answer")
            await self._follow(endpoint, answer)
            if not answer.is_whole:
                raise BadReply("it answers neither with a message nor with a task")
        except BaseException as error:
            # A task that nobody waits for any more is not to run on.
            began = isinstance(error, asyncio.CancelledError) or answer.task_id
            if began and not answer.is_whole:
                self._leave(endpoint, answer.task_id or message.task_id, message.context_id)
            raise
        return answer

    async def _follow(self, endpoint: AgentEndpoint, answer: GatheredAnswer) -> None:
        """Poll a running task until it has a result."""
        looks = iter(POLLING)
        pause = POLLING[0]
        while not answer.is_whole and answer.task_id:
            pause = next(looks, pause)
            await asyncio.sleep(pause)
            answer.take_task(await endpoint.task(answer.task_id))

    # -- tasks that nobody waits for ----------------------------------------------------------

    def _leave(self, endpoint: AgentEndpoint, task_id: str, context_id: str) -> None:
        """Cancel a task in the background after its call has ended."""
        self._leaving.start(self._cancel(endpoint, task_id, context_id))

    async def _cancel(self, endpoint: AgentEndpoint, task_id: str, context_id: str) -> None:
        """Cancel a task, or without its id all running tasks of the context; never raise."""
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT):
                ids = [task_id] if task_id else await _running(endpoint, context_id)
                for one in ids:
                    await endpoint.cancel(one)
        except (ServiceError, TimeoutError) as error:
            log.info("%s: a task could not be cancelled: %r", self.name, error)


async def _running(endpoint: AgentEndpoint, context_id: str) -> list[str]:
    found = await endpoint.running(context_id) if context_id else []
    return [task.id for task in found if task.status.state in RUNNING]


class A2aAgent(AgentOptions, frozen=True, kw_only=True):
    """An agent that speaks A2A."""

    describes: ClassVar[bool] = True
    makes: ClassVar[Callable[..., Any]] = A2aConnector

    url: Annotated[str, about("The address of the agent or of its card.", what="a URL")]
    key: BearerKey = None
    headers: Headers = None
    binding: Annotated[Binding | None, about("The binding to use, one of those on the card.")] = (
        None
    )
    version: Annotated[
        ProtocolVersion | None,
        about("The version of the protocol to use, one of those on the card."),
    ] = None
    tenant: Annotated[str | None, about("The tenant to use, one of those on the card.")] = None
    stream: Annotated[bool, about("Whether answers are streamed if the agent can stream.")] = True
    confidence: Confidence = DEFAULT_CONFIDENCE
    max_age: Annotated[Seconds, about("The time for which the agent's card is kept.")] = MAX_AGE

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Look for a card: at the address, below it, or at the root of its host."""
        cards = (CARD_PATH, OLD_PATH)
        here = probe.base(*cards)
        root = str(Url.read(here).replace_path("/")).rstrip("/")
        places = {base + card: base for base in (here, root) for card in cards}
        if here.endswith(".json"):
            places = {here: here, **places}
        for place, url in places.items():
            card = (await probe.get(place)).json()
            if not isinstance(card, dict) or not isinstance(card.get("name"), str):
                continue
            if not {"supportedInterfaces", "url", "protocolVersion"} & card.keys():
                continue
            told = str(card.get("description", "")).strip()
            return FoundService(
                what="an A2A agent",
                name=card["name"],
                call=url,
                certainty=1.0 if probe.path.endswith((".json", "/a2a")) else 0.8,
                notes=[f"it says of itself: {told[:200]}"] if told else [],
            )
        return None
