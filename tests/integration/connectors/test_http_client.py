"""The HTTP client over real sockets: connections are kept, bounded, shared out and closed."""

import asyncio
import gc
import socket
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.errors import BadReply, ServiceError, ServiceRefused, ServiceUnreachable
from tests.integration.connectors.scripted_server import Visit, scripted_server

MOST = 1_000_000
ONE = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
OK = b"HTTP/1.1 200 OK\r\n"


@asynccontextmanager
async def client_of(url: str, **options: Any) -> AsyncIterator[HttpClient]:
    client = HttpClient(url, **options)
    try:
        yield client
    finally:
        await client.aclose()


async def body_of(client: HttpClient, body: bytes = b"{}") -> bytes:
    return (await client.post(body, {}, max_bytes=MOST)).body


async def error_of(client: HttpClient, body: bytes = b"{}") -> ServiceError:
    try:
        reply = await client.post(body, {}, max_bytes=MOST)
    except ServiceError as error:
        return error
    raise AssertionError(f"there was an answer: {reply}")


def answering(*answers: bytes) -> Callable[[Visit], Awaitable[None]]:
    """Answer request after request of a connection, and close it after the last answer."""

    async def script(visit: Visit) -> None:
        for answer in answers:
            await visit.request()
            await visit.say(answer)

    return script


async def echo(visit: Visit) -> None:
    while True:
        _, body = await visit.request()
        await visit.say(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)


class TestKeptConnections:
    async def test_one_call_after_the_other_goes_over_one_connection(self) -> None:
        async with scripted_server(echo) as server, client_of(server.url) as client:
            for n in range(10):
                assert await body_of(client, b"%d" % n) == b"%d" % n

        assert server.visits == 1

    @pytest.mark.parametrize(
        "answer",
        [
            OK + b"Connection: close\r\nContent-Length: 1\r\n\r\n1",
            b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1",
            OK + b"Keep-Alive: timeout=0\r\nContent-Length: 1\r\n\r\n1",
            ONE + b"x",
            ONE + ONE,
        ],
    )
    async def test_one_that_is_not_to_be_kept_is_used_once(self, answer: bytes) -> None:
        async def script(visit: Visit) -> None:
            await visit.request()
            await visit.say(answer)
            await visit.until_it_goes()

        async with scripted_server(script) as server, client_of(server.url) as client:
            assert [await body_of(client) for _ in range(3)] == [b"1"] * 3

        assert server.visits == 3

    async def test_one_on_which_bytes_come_unasked_is_closed(self) -> None:
        gone = asyncio.Event()

        async def script(visit: Visit) -> None:
            await visit.request()
            await visit.say(ONE)
            await visit.say(ONE.replace(b"1\r\n\r\n1", b"1\r\n\r\n2"))
            await visit.until_it_goes()
            gone.set()

        async with scripted_server(script) as server, client_of(server.url) as client:
            assert await body_of(client) == b"1"
            await gone.wait()
            assert await body_of(client) == b"1"

        assert server.visits == 2

    async def test_one_that_the_server_closed_while_idle_is_replaced_in_silence(self) -> None:
        async with scripted_server(answering(ONE)) as server, client_of(server.url) as client:
            assert [await body_of(client) for _ in range(5)] == [b"1"] * 5

        assert server.visits == 5

    async def test_an_idle_connection_is_closed_before_the_server_would(self) -> None:
        gone = asyncio.Event()

        async def script(visit: Visit) -> None:
            await visit.request()
            await visit.say(OK + b"Keep-Alive: timeout=1\r\nContent-Length: 1\r\n\r\n1")
            await visit.until_it_goes()
            gone.set()

        async with scripted_server(script) as server, client_of(server.url) as client:
            await body_of(client)
            await gone.wait()
            assert await body_of(client) == b"1"

        assert server.visits == 2

    async def test_a_request_that_met_a_closed_idle_connection_is_sent_once_more(self) -> None:
        seen: list[bytes] = []

        async def script(visit: Visit) -> None:
            while True:
                _, body = await visit.request()
                seen.append(body)
                if visit.number == 1 and len(seen) == 2:
                    return
                await visit.say(ONE)

        async with scripted_server(script) as server, client_of(server.url) as client:
            assert [await body_of(client, b"%d" % n) for n in range(3)] == [b"1"] * 3

        assert seen == [b"0", b"1", b"1", b"2"]
        assert server.visits == 2

    async def test_a_request_is_not_sent_again_once_a_byte_of_the_answer_came(self) -> None:
        asked = 0

        async def script(visit: Visit) -> None:
            nonlocal asked
            for answer in (ONE, b"H"):
                await visit.request()
                asked += 1
                await visit.say(answer)

        async with scripted_server(script) as server, client_of(server.url) as client:
            await body_of(client)
            error = await error_of(client)

        assert isinstance(error, ServiceUnreachable)
        assert asked == 2
        assert server.visits == 1

    async def test_a_request_over_a_new_connection_is_not_sent_again(self) -> None:
        async with scripted_server(answering()) as server, client_of(server.url) as client:
            error = await error_of(client)

        assert isinstance(error, ServiceUnreachable)
        assert server.visits == 1

    async def test_a_request_is_sent_twice_and_not_three_times(self) -> None:
        async def script(visit: Visit) -> None:
            await visit.request()
            if visit.number == 1:
                await visit.say(ONE)
                await visit.request()

        async with scripted_server(script) as server, client_of(server.url) as client:
            await body_of(client)
            error = await error_of(client)

        assert isinstance(error, ServiceUnreachable)
        assert server.visits == 2


class TestTheBound:
    async def test_no_more_connections_are_open_than_allowed(self) -> None:
        open_now = most = 0

        async def script(visit: Visit) -> None:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            try:
                await visit.request()
                await visit.say(OK + b"Connection: close\r\nContent-Length: 1\r\n\r\n1")
            finally:
                open_now -= 1

        async with (
            scripted_server(script) as server,
            client_of(server.url, max_connections=3) as client,
        ):
            await asyncio.gather(*(body_of(client) for _ in range(30)))

        assert most <= 3
        assert server.visits == 30

    async def test_who_waits_longest_gets_the_next_connection(self) -> None:
        seen: list[bytes] = []

        async def script(visit: Visit) -> None:
            while True:
                seen.append((await visit.request())[1])
                await visit.say(ONE)

        async with (
            scripted_server(script) as server,
            client_of(server.url, max_connections=1) as client,
        ):
            await asyncio.gather(*(body_of(client, b"%d" % n) for n in range(20)))

        assert seen == [b"%d" % n for n in range(20)]

    async def test_a_call_that_is_cancelled_while_it_waits_gives_its_place_away(self) -> None:
        go_on = asyncio.Event()
        first_came = asyncio.Event()

        async def script(visit: Visit) -> None:
            while True:
                await visit.request()
                first_came.set()
                await go_on.wait()
                await visit.say(ONE)

        async with (
            scripted_server(script) as server,
            client_of(server.url, max_connections=1) as client,
        ):
            calls = [asyncio.create_task(body_of(client)) for _ in range(6)]
            await first_came.wait()
            for call in calls[1:5:2]:
                call.cancel()
            go_on.set()
            ended = await asyncio.gather(*calls, return_exceptions=True)

        kinds = [b"1" if one == b"1" else type(one) for one in ended]
        gone = asyncio.CancelledError
        assert kinds == [b"1", gone, b"1", gone, b"1", b"1"]
        assert server.visits == 1

    async def test_a_failed_connection_gives_its_place_to_the_next(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
            async with client_of(url, max_connections=1) as client:
                errors = await asyncio.gather(*(error_of(client) for _ in range(5)))

        assert [type(error) for error in errors] == [ServiceUnreachable] * 5


class TestCancellation:
    @pytest.mark.parametrize("steps", range(12))
    async def test_a_call_can_be_cancelled_at_any_moment(self, steps: int) -> None:
        async def script(visit: Visit) -> None:
            while True:
                _, body = await visit.request()
                await visit.say(OK + b"Content-Length: 6\r\n\r\n", b"ab", b"cd", b"ef"[: len(body)])

        async with (
            scripted_server(script) as server,
            client_of(server.url, max_connections=1) as client,
        ):
            if steps % 2:
                await body_of(client)
            call = asyncio.create_task(body_of(client))
            for _ in range(steps // 2):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            after = await asyncio.gather(*(body_of(client) for _ in range(3)))

        assert after == [b"abcdef"] * 3

    async def test_a_half_read_connection_is_closed_and_never_used_again(self) -> None:
        half_said, gone = asyncio.Event(), asyncio.Event()

        async def script(visit: Visit) -> None:
            await visit.request()
            if visit.number == 1:
                await visit.say(OK + b"Content-Length: 4\r\n\r\nab")
                half_said.set()
                await visit.until_it_goes()
                gone.set()
            else:
                await visit.say(ONE)

        async with scripted_server(script) as server, client_of(server.url) as client:
            call = asyncio.create_task(body_of(client))
            await half_said.wait()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await gone.wait()
            assert await body_of(client) == b"1"


class TestAnswersOfAllKinds:
    @pytest.mark.parametrize(
        "pieces",
        [
            [OK + b"\r\n", b"he", b"llo"],
            [OK + b"Transfer-Encoding: chunked\r\n\r\n", b"2\r\nhe\r", b"\n3\r\nllo\r\n0\r\n\r\n"],
            [b"HTTP/1.1 100 Continue\r\n\r\n", OK + b"Content-Length: 5\r\n\r\nhello"],
            [b"HTTP/1.0 200 OK\r\n\r\nhello"],
        ],
    )
    async def test_a_body_is_read_to_its_end_whatever_marks_it(self, pieces: list[bytes]) -> None:
        async def script(visit: Visit) -> None:
            await visit.request()
            await visit.say(*pieces)

        async with scripted_server(script) as server, client_of(server.url) as client:
            assert await body_of(client) == b"hello"

    async def test_a_body_that_ends_with_a_reset_is_broken(self) -> None:
        async def script(visit: Visit) -> None:
            await visit.request()
            await visit.say(OK + b"\r\nhel")
            said.set()
            await go_on.wait()
            visit.reset()

        said, go_on = asyncio.Event(), asyncio.Event()
        async with scripted_server(script) as server, client_of(server.url) as client:
            call = asyncio.create_task(error_of(client))
            await said.wait()
            go_on.set()

            assert isinstance(await call, ServiceUnreachable)

    async def test_an_answer_before_the_request_is_sent_whole_counts_and_closes(self) -> None:
        async def script(visit: Visit) -> None:
            await visit.head()
            await visit.say(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
            await visit.until_it_goes()

        async with scripted_server(script) as server, client_of(server.url) as client:
            errors = [await error_of(client, b"x" * 50_000_000) for _ in range(2)]

        assert [str(error) for error in errors] == ["status 413: no"] * 2
        assert server.visits == 2

    async def test_an_error_whose_body_never_ends_is_a_refusal_all_the_same(self) -> None:
        async def script(visit: Visit) -> None:
            await visit.request()
            await visit.say(b"HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nwhy")
            await visit.until_it_goes()

        async with scripted_server(script) as server, client_of(server.url) as client:
            error = await error_of(client)

        assert isinstance(error, ServiceRefused)
        assert str(error) == "status 500: why"

    async def test_an_error_that_breaks_off_is_a_refusal_all_the_same(self) -> None:
        broken = b"HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nwhy"
        async with scripted_server(answering(broken)) as server, client_of(server.url) as client:
            assert str(await error_of(client)) == "status 500: why"

    async def test_a_refusal_keeps_the_connection(self) -> None:
        refusal = b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno"

        async with (
            scripted_server(answering(refusal, refusal, ONE)) as server,
            client_of(server.url) as client,
        ):
            for _ in range(2):
                assert isinstance(await error_of(client), ServiceRefused)
            assert await body_of(client) == b"1"

        assert server.visits == 1


class TestEndlessAnswers:
    """Whatever comes without end is given up, and the loop goes on meanwhile."""

    @pytest.mark.parametrize(
        ("start", "again"),
        [
            (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
            (b"", b"\r\n"),
            (OK, b"X: y\r\n"),
            (OK + b"X: ", b"x"),
            (OK + b"\r\n", b"x"),
            (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
            (OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
            (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"T: x\r\n"),
            (OK + b"Content-Type: text/event-stream\r\n\r\n", b"\n"),
            (OK + b"Content-Type: text/event-stream\r\n\r\n", b"data: x\n\n"),
            (OK + b"Content-Type: text/event-stream\r\n\r\ndata:", b"x"),
        ],
    )
    async def test_an_answer_without_end_is_given_up(self, start: bytes, again: bytes) -> None:
        block = again * (65536 // len(again))

        async def script(visit: Visit) -> None:
            await visit.request()
            await visit.say(start)
            while True:
                await visit.say(block)

        events = EventStream(lambda data: False, max_bytes=2_000_000)
        async with scripted_server(script) as server, client_of(server.url) as client:
            with pytest.raises(BadReply):
                await client.post(b"{}", {}, max_bytes=MOST, stream=events)


class TestTheEnd:
    async def test_calls_that_run_or_wait_fail_when_the_client_is_closed(self) -> None:
        came = asyncio.Event()

        async def script(visit: Visit) -> None:
            await visit.request()
            came.set()
            await visit.until_it_goes()

        async with scripted_server(script) as server:
            client = HttpClient(server.url, max_connections=1)
            calls = [asyncio.create_task(error_of(client)) for _ in range(3)]
            await came.wait()
            await client.aclose()
            errors = await asyncio.gather(*calls)
            after = await error_of(client)

        assert [type(error) for error in [*errors, after]] == [ServiceUnreachable] * 4

    async def test_closing_leaves_no_socket_and_no_warning(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            async with scripted_server(echo) as server, client_of(server.url) as client:
                await asyncio.gather(*(body_of(client) for _ in range(5)))
            del client
            gc.collect()

        assert [str(warning.message) for warning in caught] == []

    async def test_closing_twice_or_unused_does_no_harm(self) -> None:
        client = HttpClient("http://127.0.0.1:1/")
        await client.aclose()
        await client.aclose()


class TestAddresses:
    async def test_a_host_is_tried_at_all_its_addresses(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with scripted_server(echo) as server:
            loop = asyncio.get_running_loop()

            async def found(host: str, port: int, **_: Any) -> list[Any]:
                stream = (socket.SOCK_STREAM, 6, "")
                return [
                    (socket.AF_INET6, *stream, ("::1", port, 0, 0)),  # nothing listens there
                    (socket.AF_INET, *stream, ("127.0.0.1", port)),
                ]

            class Resolving:
                def __getattr__(self, name: str) -> Any:
                    return found if name == "getaddrinfo" else getattr(loop, name)

            monkeypatch.setattr(
                "prolocutor.connectors.parts.connecting.asyncio.get_running_loop", Resolving
            )
            async with client_of(f"http://two-addresses.test:{server.port}/") as client:
                assert await body_of(client, b"hi") == b"hi"

    async def test_an_ipv6_address_is_reached(self) -> None:
        try:
            async with (
                scripted_server(echo, host="::1") as server,
                client_of(server.url) as client,
            ):
                assert await body_of(client, b"hi") == b"hi"
        except OSError:
            pytest.skip("no IPv6 here")

    async def test_a_proxy_that_is_not_used_is_named_where_connecting_fails(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("http_proxy", "http://proxy:3128")
        monkeypatch.delenv("no_proxy", raising=False)
        async with client_of("http://no-such-host.invalid/") as client:
            error = await error_of(client)

        assert "a proxy is set in the environment, but proxies are not used" in str(error)


class TestServicesOfOneServer:
    async def test_share_connections_and_close_them_with_the_last(self) -> None:
        gone = asyncio.Event()

        async def script(visit: Visit) -> None:
            for _ in range(3):
                await visit.request()
                await visit.say(ONE)
            await visit.until_it_goes()
            gone.set()

        async with scripted_server(script) as server:
            first, second = (HttpClient(f"{server.url}{n}", shared=True) for n in "ab")
            assert [await body_of(first), await body_of(second)] == [b"1", b"1"]
            await first.aclose()
            assert type(await error_of(first)) is ServiceUnreachable
            assert await body_of(second) == b"1"
            assert server.visits == 1
            assert gone.is_set() is False
            await second.aclose()
            await gone.wait()

    async def test_wait_only_where_all_of_them_together_have_no_room(self) -> None:
        both_there = asyncio.Barrier(2)

        async def script(visit: Visit) -> None:
            await visit.request()
            await both_there.wait()
            await visit.say(ONE)

        async with scripted_server(script) as server:
            clients = [HttpClient(server.url, max_connections=1, shared=True) for _ in range(2)]
            assert await asyncio.gather(*map(body_of, clients)) == [b"1", b"1"]
            await asyncio.gather(*(client.aclose() for client in clients))
