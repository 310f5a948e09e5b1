"""Services that stream: their words are handed on as they come, the reply is whole as ever."""

from typing import Any

import pytest

from prolocutor.connectors.http import HttpConnector
from prolocutor.connectors.parts.event_stream import ACCEPT
from prolocutor.connectors.process import ProcessConnector
from prolocutor.dialog.plain import MAX_BYTES, Plain
from prolocutor.errors import BadReply, ServiceUnreachable
from prolocutor.testing.connector_kit import closing
from prolocutor.testing.fake_service import FakeDeltas, FakeRequest
from tests.integration.connectors.raw_server import raw_server

WORDS = [b'{"delta": "Ro"}', b'{"delta": "ses", "confidence": 0.9}']
REPLY = b'[{"text": "Roses", "confidence": 0.9}]'


def answer(kind: str, *items: bytes) -> bytes:
    """Return a whole HTTP response whose body is these events or lines."""
    lines = kind != "text/event-stream"
    body = b"".join(b"%b\n" % item if lines else b"data: %b\n\n" % item for item in items)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def sent(response: bytes, deltas: FakeDeltas | None) -> tuple[Any, dict[str, str]]:
    async with (
        raw_server(response) as server,
        closing(HttpConnector(server.url, name="poet")) as connector,
    ):
        (reply,) = await connector.send([FakeRequest({"text": "hi"}, deltas=deltas)])
        return reply, server.headers


@pytest.mark.parametrize("kind", ["text/event-stream", "application/x-ndjson; charset=utf-8"])
@pytest.mark.parametrize(
    ("end", "value"),
    [
        (REPLY, [{"text": "Roses", "confidence": 0.9}]),
        (b"[DONE]", [{"text": "Roses", "confidence": 0.9}]),
        (b'{"confidence": 0.3}', {"text": "Roses", "confidence": 0.3}),
        (b'{"text": "No.", "confidence": 0.3}', {"text": "No.", "confidence": 0.3}),
        (b"[]", []),
    ],
)
async def test_an_http_service_may_stream(kind: str, end: bytes, value: Any) -> None:
    deltas = FakeDeltas()
    reply, headers = await sent(answer(kind, *WORDS, end), deltas)
    unheard, usual = await sent(answer(kind, *WORDS, end), None)

    assert reply.value == value
    assert deltas.pieces == ["Ro", "ses"]
    assert deltas.confidence == 0.9
    assert unheard.value == value
    assert headers["accept"] == ACCEPT
    assert usual["accept"] == "*/*"


@pytest.mark.parametrize(
    ("items", "kind"),
    [
        (WORDS, ServiceUnreachable),
        ([], ServiceUnreachable),
        ([*WORDS, b'{"delta": 5'], BadReply),
        ([b'{"delta": "%b"}' % (b"x" * 600_000)] * 2, BadReply),
        ([b'"%b"' % (b"x" * MAX_BYTES)], BadReply),
    ],
)
async def test_a_stream_that_breaks_off_or_is_no_json_is_a_failure(
    items: list[bytes], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        await sent(answer("text/event-stream", *items), FakeDeltas())


async def test_a_function_in_a_process_of_its_own_streams_where_it_is_listened_to() -> None:
    state, deltas = {"utterances": [{"text": "hi"}]}, FakeDeltas()
    dotted = "tests.integration.connectors.services:poet"
    async with closing(ProcessConnector(dotted, name="poet")) as connector:
        (unheard,) = await connector.send([FakeRequest(state)])
        (reply,) = await connector.send([FakeRequest(state, deltas=deltas)])

    assert isinstance(reply, Plain)
    assert isinstance(unheard, Plain)
    assert reply.value == unheard.value == {"text": "Roses", "confidence": 0.9}
    assert deltas.pieces == ["Ro", "ses"]
