"""An HTTP service, over real sockets: every failure is told apart, nothing is followed blindly."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from prolocutor.connectors.http import HttpConnector
from prolocutor.dialog.plain import Plain
from prolocutor.errors import (
    BadReply,
    ConfigError,
    ServiceError,
    ServiceRefused,
    ServiceUnreachable,
)
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.testing.fake_service import FakeRequest
from tests.integration.connectors.raw_server import json, plain, raw_server

pytestmark = pytest.mark.filterwarnings("error")


def values(replies: Any) -> list[Any]:
    return [reply.value if isinstance(reply, Plain) else type(reply) for reply in replies]


async def test_one_request_is_posted_as_json_and_its_bare_reply_read() -> None:
    request = FakeRequest({"text": "hi"}, service="joker", turn_id="ab" * 16)
    async with (
        raw_server(json([{"text": "ho"}])) as server,
        closing(HttpConnector(server.url, name="joker")) as connector,
    ):
        replies = await connector.send([request])

    assert values(replies) == [[{"text": "ho"}]]
    assert server.body == {"text": "hi"}
    assert server.headers["content-type"] == "application/json"
    assert server.headers["x-turn-id"] == "ab" * 16
    assert server.headers["idempotency-key"] == "ab" * 16 + "/joker"
    assert not server.headers.keys() & {"cookie", "traceparent", "authorization"}


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (plain(b"no json"), BadReply, "$: not JSON: JSON is malformed: invalid character"),
        (plain(b""), BadReply, "$: not JSON: Input data was truncated"),
        (plain(b'"\xff"'), BadReply, "$: not JSON"),
        (plain(b"[" * 70 + b"]" * 70), BadReply, "nested deeper than 64 levels"),
        (plain(b"[" * 100_000), BadReply, "$: n"),
        (plain(b"[1,2", length=100), ServiceUnreachable, "broke off in the middle of its reply"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Le",
            ServiceUnreachable,
            "closed the connection without a reply",
        ),
        (None, ServiceUnreachable, "closed the connection without a reply"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", BadReply, "$: not HTTP: "),
        (
            json({"error": "no\nway"}, "500 Internal Server Error"),
            ServiceRefused,
            'status 500: {"error":"no\\nway"}',
        ),
        (plain(b"", "503 Busy"), ServiceRefused, "status 503"),
        (plain(b"<h1>Not\nFound</h1>", "404 X"), ServiceRefused, "status 404: <h1>Not Found</h1>"),
        (plain(b"x" * 5000, "400 X"), ServiceRefused, "status 400: " + "x" * 200),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            ServiceRefused,
            "status 302: a redirect, which is not followed",
        ),
        (plain(b"x" * 50_000_000), BadReply, "$: 50,000,000 bytes, more than the 1,000,000 allow"),
        (
            b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5_000_000,
            BadReply,
            "$: more than the 1,000,000 bytes allowed",
        ),
    ],
)
async def test_each_failure_is_told_apart(
    answer: bytes | None, error: type[ServiceError], text: str
) -> None:
    async with (
        raw_server(answer) as server,
        closing(HttpConnector(server.url, name="s")) as connector,
    ):
        reply = await ask(connector)

    assert type(reply) is error
    assert text in str(reply)
    assert len(server.asked) == 1


async def test_an_address_where_nobody_listens_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://ann:secret@127.0.0.1:{taken.getsockname()[1]}/?key=secret"
        async with closing(HttpConnector(url, name="s")) as connector:
            reply = await ask(connector)

    assert type(reply) is ServiceUnreachable
    assert "cannot connect to http://127.0.0.1:" in str(reply)
    assert "secret" not in str(reply)


async def test_a_name_that_is_no_host_is_unreachable() -> None:
    async with closing(HttpConnector("http://no-such-host.invalid/", name="s")) as connector:
        reply = await ask(connector)

    assert type(reply) is ServiceUnreachable
    assert str(reply).startswith("cannot connect to http://no-such-host.invalid/: ")


async def test_a_line_that_breaks_while_the_reply_is_awaited_is_unreachable() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"  # on, 0 seconds: close sends a reset
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()

    async with await asyncio.start_server(reset, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        async with closing(HttpConnector(f"http://127.0.0.1:{port}", name="s")) as connector:
            reply = await ask(connector)

    assert type(reply) is ServiceUnreachable


async def test_a_service_that_never_answers_waits_for_its_time_out_and_no_longer() -> None:
    async with raw_server() as server, closing(HttpConnector(server.url, name="s")) as connector:
        call = asyncio.create_task(connector.send([FakeRequest()]))
        await server.came.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await server.gone.wait()


async def test_headers_of_the_configuration_are_sent() -> None:
    headers = {"Authorization": "Bearer x"}
    async with (
        raw_server(json(1)) as server,
        closing(HttpConnector(server.url, name="s", headers=headers)) as connector,
    ):
        await ask(connector)

    assert server.headers["authorization"] == "Bearer x"


async def test_a_service_named_in_any_script_can_be_called() -> None:
    async with (
        raw_server(json(1)) as server,
        closing(HttpConnector(server.url, name="s")) as connector,
    ):
        await connector.send([FakeRequest(service="слуга", turn_id="a" * 32)])

    assert server.headers["idempotency-key"] == "a" * 32 + "/%D1%81%D0%BB%D1%83%D0%B3%D0%B0"


class RecordingSpan(NonRecordingSpan):
    def is_recording(self) -> bool:
        return True


@pytest.fixture
def span() -> Iterator[SpanContext]:
    context = SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=TraceFlags(1))
    with trace.use_span(RecordingSpan(context)):
        yield context


async def test_a_recording_span_is_handed_on(span: SpanContext) -> None:
    async with (
        raw_server(json(1)) as server,
        closing(HttpConnector(server.url, name="s")) as connector,
    ):
        await ask(connector)

    assert server.headers["traceparent"] == f"00-{0xABC:032x}-{0xDEF:016x}-01"


@pytest.mark.parametrize("url", ["", "agent:8080", "ftp://host/", "http://", "/path", "http://h:x"])
def test_what_is_no_url_is_refused_when_made(url: str) -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        HttpConnector(url, name="s")


class TestNativeBatches:
    async def test_requests_go_out_in_one_and_replies_come_by_position(self) -> None:
        async with (
            raw_server(json({"batch": ["a", "b", "c"]})) as server,
            closing(HttpConnector(server.url, name="s", batched=True)) as connector,
        ):
            replies = await connector.send([FakeRequest(n) for n in range(3)])

        assert values(replies) == ["a", "b", "c"]
        assert server.body == {"batch": [0, 1, 2]}

    async def test_a_single_request_is_a_batch_too(self) -> None:
        async with (
            raw_server(json({"batch": ["a"]})) as server,
            closing(HttpConnector(server.url, name="s", batched=True)) as connector,
        ):
            replies = await connector.send([FakeRequest("hi")])

        assert values(replies) == ["a"]
        assert server.body == {"batch": ["hi"]}

    async def test_the_key_of_a_batch_depends_on_all_that_is_in_it(self) -> None:
        a, b, c = (FakeRequest(key=key) for key in "abc")
        async with (
            raw_server(json({"batch": [1, 2]})) as server,
            closing(HttpConnector(server.url, name="s", batched=True)) as connector,
        ):
            for pair in [(a, b), (a, c), (a, b)]:
                await connector.send(pair)
        first, second, third = (headers["idempotency-key"] for headers, _ in server.asked)

        assert first == third != second
        assert first.startswith("a+")

    async def test_one_bad_item_fails_alone(self) -> None:
        deep = b"[" * 70 + b"]" * 70
        long = b'"' + b"x" * 1_000_000 + b'"'
        body = b'{"batch":["good",%b,%b]}' % (deep, long)
        async with (
            raw_server(plain(body)) as server,
            closing(HttpConnector(server.url, name="s", batched=True)) as connector,
        ):
            replies = await connector.send([FakeRequest(n) for n in range(3)])

        assert values(replies) == ["good", BadReply, BadReply]

    @pytest.mark.parametrize(
        ("reply", "text"),
        [
            ({"batch": [1]}, "1 replies to a batch of 2 requests"),
            ({"batch": [1, 2, 3]}, "3 replies to a batch of 2 requests"),
            ({"batch": 1}, 'a batch needs {"batch": [...]} with 2 replies'),
            ([1, 2], 'a batch needs {"batch": [...]} with 2 replies'),
        ],
    )
    async def test_what_is_no_batch_fails_for_all(self, reply: object, text: str) -> None:
        async with (
            raw_server(json(reply)) as server,
            closing(HttpConnector(server.url, name="s", batched=True)) as connector,
        ):
            error = await ask(connector, 1, 2)

        assert isinstance(error, BadReply)
        assert text in str(error)


def deeppavlov(url: str) -> HttpConnector:
    return HttpConnector(url, name="s", wire="deeppavlov", batched=True)


class TestTheWireOfDeepPavlov:
    async def test_a_request_on_its_own_takes_the_first_element(self) -> None:
        async with (
            raw_server(json([["tag"], "more"])) as server,
            closing(deeppavlov(server.url)) as connector,
        ):
            replies = await connector.send([FakeRequest({"x": ["hi"]})])

        assert values(replies) == [["tag"]]
        assert server.body == {"x": ["hi"]}

    async def test_several_requests_are_merged_key_by_key(self) -> None:
        tasks = [{"x": ["hi"], "y": [[1]]}, {"y": [[2]], "x": ["ho"]}]
        async with (
            raw_server(json(["a", "b"])) as server,
            closing(deeppavlov(server.url)) as connector,
        ):
            replies = await connector.send([FakeRequest(task) for task in tasks])

        assert values(replies) == ["a", "b"]
        assert server.body == {"x": ["hi", "ho"], "y": [[1], [2]]}

    @pytest.mark.parametrize(
        "task", [{"x": ["hi", "you"]}, {"z": ["hi"]}, {"x": "hi"}, {}, [], "hi"]
    )
    async def test_requests_that_do_not_fit_together_go_out_singly(self, task: Any) -> None:
        async with (
            raw_server(json(["a"]), json([])) as server,
            closing(deeppavlov(server.url)) as connector,
        ):
            replies = await connector.send([FakeRequest({"x": ["hi"]}), FakeRequest(task)])

        assert sorted(map(str, values(replies))) == sorted(["a", str(BadReply)])
        assert len(server.asked) == 2

    @pytest.mark.parametrize("reply", [["a"], ["a", "b", "c"], {"0": "a"}, "ab", None])
    async def test_what_does_not_answer_each_request_fails(self, reply: object) -> None:
        async with raw_server(json(reply)) as server, closing(deeppavlov(server.url)) as connector:
            error = await ask(connector, {"x": ["hi"]}, {"x": ["ho"]})

        assert isinstance(error, BadReply)
