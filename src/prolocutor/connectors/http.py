"""HttpConnector: a service behind a URL, on the native wire or on DeepPavlov's.

Native: POST of a request as JSON, the bare reply as JSON; batched `{"batch": [...]}` both ways. A
streaming service answers with events or lines (`text/event-stream`, `application/x-ndjson`): each
word of its reply as `{"delta": TEXT}`, and the reply at the end. DeepPavlov: a dict of lists goes
out (several requests are merged by joining their lists key by key), a list comes back, element i
for request i; a request on its own takes element 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from prolocutor.bounds import about
from prolocutor.connectors.parts.event_stream import ACCEPT, StreamedReply
from prolocutor.connectors.parts.http_client import MAX_CONNECTIONS, HttpClient
from prolocutor.connectors.parts.network_calls import call_headers, each_alone
from prolocutor.contracts.connector import AgentOptions, Headers, Replies, Request, ServiceContext
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.plain import BYTE_ORDER_MARK, MAX_BYTES, JsonObject, Plain, encode, parse
from prolocutor.errors import BadReply, ServiceError

Wire = Literal["native", "deeppavlov"]

_read_list: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode

_UTTERANCE: Final[JsonObject] = {"text": "hello", "attributes": {}, "annotations": {}}
_HELLO: Final[JsonObject] = {
    "dialog_id": "0" * 32,
    "turn_id": "0" * 32,
    "service": "probe",
    "utterances": [_UTTERANCE],
    "human_utterances": [_UTTERANCE],
    "bot_utterances": [],
    "human": {"attributes": {}, "user_external_id": "probe"},
    "bot": {"attributes": {}},
}


class HttpConnector:
    """The way to a service behind `url`; replies of at most 1 MB a request.

    It sends the headers of each call (`call_headers`) and `headers`. `max_connections`: the most
    connections at a time; further calls wait. Time-outs are the caller's, who cancels `send`.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        wire: Wire = "native",
        batched: bool = False,
        max_connections: int = MAX_CONNECTIONS,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._merged = wire == "deeppavlov"
        self._batched = batched
        self._client = HttpClient(
            url,
            headers={"Content-Type": "application/json", **(headers or {})},
            max_connections=max_connections,
            shared=True,
        )

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Post the requests and read the replies; raise `ServiceError` with the reason of a
        failure.
        """
        first = requests[0]
        if self._merged:
            if len(requests) == 1:
                elements = _elements(await self._post(first.body(), requests), None)
                return (parse(bytes(elements[0])),)
            merged = _merge(requests)
            if merged is None:
                return await each_alone(self._send_one, requests)
            return _items(_elements(await self._post(merged, requests), len(requests)))
        if self._batched:
            body = b'{"batch":[%b]}' % b",".join([request.body() for request in requests])
            return _items(_batch(await self._post(body, requests), len(requests)))
        streamed = StreamedReply(first.deltas)
        headers = call_headers(requests)
        if first.deltas is not None:
            headers["Accept"] = ACCEPT
        body = first.body()
        reply = await self._client.post(body, headers, max_bytes=MAX_BYTES, stream=streamed)
        return (streamed.whole() if reply.is_streamed else parse(reply.body),)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _send_one(self, request: Request) -> Plain | ServiceError:
        return (await self.send((request,)))[0]

    async def _post(self, body: bytes, requests: Sequence[Request]) -> bytes:
        most = MAX_BYTES * len(requests)
        reply = await self._client.post(body, call_headers(requests), max_bytes=most)
        return reply.body.removeprefix(BYTE_ORDER_MARK)


class _Batch(msgspec.Struct):
    batch: list[msgspec.Raw]


_read_batch: Final = msgspec.json.Decoder(_Batch).decode


def _batch(body: bytes, count: int) -> list[msgspec.Raw]:
    try:
        return _check_count(_read_batch(body).batch, count)
    except msgspec.ValidationError:
        raise BadReply(f'a batch needs {{"batch": [...]}} with {count} replies') from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReply(f"not JSON: {error}") from None


def _elements(body: bytes, count: int | None) -> list[msgspec.Raw]:
    try:
        elements = _read_list(body)
    except msgspec.ValidationError:
        raise BadReply("DeepPavlov's wire needs a list as the reply") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReply(f"not JSON: {error}") from None
    if count is None and not elements:
        raise BadReply("an empty list has no reply")
    return elements if count is None else _check_count(elements, count)


def _check_count(elements: list[msgspec.Raw], count: int) -> list[msgspec.Raw]:
    if len(elements) != count:
        raise BadReply(f"{len(elements)} replies to a batch of {count} requests")
    return elements


def _items(elements: list[msgspec.Raw]) -> Replies:
    return [_item(element) for element in elements]


def _item(element: msgspec.Raw) -> Plain | ServiceError:
    try:
        return parse(bytes(element))
    except BadReply as error:
        return error


def _merge(requests: Sequence[Request]) -> bytes | None:
    """Join the lists of all requests key by key; return None if their keys differ."""
    values = [request.value() for request in requests]
    keys = list(values[0]) if isinstance(values[0], dict) else []
    merged: dict[str, list[Any]] = {key: [] for key in keys}
    for value in values:
        if not isinstance(value, dict) or not value or value.keys() != merged.keys():
            return None
        for key, items in value.items():
            if not isinstance(items, list) or len(items) != 1:
                return None
            merged[key] += items
    return encode(merged)


class HttpService(AgentOptions, frozen=True, kw_only=True):
    """A service over HTTP, which is sent the request as JSON."""

    beside: ClassVar[tuple[str, ...]] = ("wire",)

    url: Annotated[str, about("The URL that requests are posted to.", what="a URL")]
    wire: Annotated[
        Literal["native", "deeppavlov"],
        about("The wire form: `native`, or that of DeepPavlov Agent."),
    ] = "native"
    headers: Headers = None

    def build(self, context: ServiceContext) -> HttpConnector:
        """Make the connector."""
        return HttpConnector(
            self.url,
            name=context.name,
            wire=self.wire,
            batched=context.batched,
            max_connections=context.max_in_flight,
            headers=self.headers,
        )

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Send a greeting in the native wire: a hypothesis or a list of hypotheses is
        recognized.
        """
        reply = (await probe.post(probe.url, _HELLO)).json()
        replies = reply if isinstance(reply, list) else [reply]
        if not all(isinstance(one, dict) and "text" in one for one in replies):
            return None
        says = "answered hello" if replies else "had no answer to hello"
        if not isinstance(reply, list) and "confidence" not in reply:
            return None
        return FoundService(
            what=f"a native HTTP service, which {says}",
            name=probe.path.rpartition("/")[2],
            call=probe.url,
            timeout=5,
            certainty=0.3 if replies else 0.2,
        )
