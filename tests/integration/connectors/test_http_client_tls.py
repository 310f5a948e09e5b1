"""The HTTP client over https: certificates and names are verified, and the rest is the same."""

import asyncio
import ssl

import pytest
import trustme

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.errors import ServiceUnreachable
from tests.integration.connectors.scripted_server import Visit, scripted_server
from tests.integration.connectors.test_http_client import OK, body_of, client_of, echo, error_of


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*names).configure_cert(context)
    return context


@pytest.fixture(scope="module")
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def test_calls_over_https_keep_their_connection(
    authority: trustme.CA, trusting: ssl.SSLContext
) -> None:
    tls = server_context(authority, "127.0.0.1")
    async with (
        scripted_server(echo, tls=tls) as server,
        client_of(server.url, tls=trusting) as client,
    ):
        for n in range(5):
            assert await body_of(client, b"%d" % n) == b"%d" % n

    assert server.visits == 1


async def test_the_name_of_the_host_is_sent_and_verified(
    authority: trustme.CA, trusting: ssl.SSLContext
) -> None:
    asked: list[str | None] = []
    tls = server_context(authority, "localhost")
    tls.sni_callback = lambda _object, name, _context: asked.append(name)
    async with (
        scripted_server(echo, tls=tls) as server,
        client_of(f"https://localhost:{server.port}/", tls=trusting) as client,
        client_of(server.url, tls=trusting) as other,
    ):
        assert await body_of(client, b"hi") == b"hi"
        error = await error_of(other)

    assert asked[0] == "localhost"
    assert isinstance(error, ServiceUnreachable)
    assert "the certificate of https://127.0.0.1:" in str(error)
    assert "IP address mismatch" in str(error)


async def test_a_certificate_of_an_unknown_authority_is_refused(authority: trustme.CA) -> None:
    tls = server_context(authority, "127.0.0.1")
    async with scripted_server(echo, tls=tls) as server, client_of(server.url) as client:
        errors = [await error_of(client) for _ in range(2)]

    assert all(isinstance(error, ServiceUnreachable) for error in errors)
    assert "is not accepted: " in str(errors[0])


async def test_authorities_of_the_environment_are_trusted(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = server_context(authority, "127.0.0.1")
    with authority.cert_pem.tempfile() as file:
        monkeypatch.setenv("SSL_CERT_FILE", file)
        async with scripted_server(echo, tls=tls) as server, client_of(server.url) as client:
            assert await body_of(client, b"hi") == b"hi"


async def test_a_server_without_encryption_is_unreachable_over_https() -> None:
    async def script(visit: Visit) -> None:
        await visit.say(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with scripted_server(script) as server:
        client = HttpClient(server.url.replace("http:", "https:"))
        error = await error_of(client)
        await client.aclose()

    assert isinstance(error, ServiceUnreachable)
    assert str(error).startswith("cannot connect to https://127.0.0.1:")


@pytest.mark.parametrize("steps", [0, 1, 2, 5, 10, 20, 40])
async def test_a_call_over_https_can_be_cancelled_at_any_moment(
    steps: int, authority: trustme.CA, trusting: ssl.SSLContext
) -> None:
    tls = server_context(authority, "127.0.0.1")
    async with (
        scripted_server(echo, tls=tls) as server,
        client_of(server.url, tls=trusting, max_connections=1) as client,
    ):
        call = asyncio.create_task(body_of(client, b"first"))
        for _ in range(steps):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

        assert await body_of(client, b"second") == b"second"


async def test_an_answer_may_end_with_the_connection(
    authority: trustme.CA, trusting: ssl.SSLContext
) -> None:
    async def script(visit: Visit) -> None:
        await visit.request()
        await visit.say(OK + b"\r\n", b"to the end")

    tls = server_context(authority, "127.0.0.1")
    async with (
        scripted_server(script, tls=tls) as server,
        client_of(server.url, tls=trusting) as client,
    ):
        assert await body_of(client) == b"to the end"


async def test_closing_a_client_of_https_leaves_nothing(
    authority: trustme.CA, trusting: ssl.SSLContext
) -> None:
    tls = server_context(authority, "127.0.0.1")
    async with scripted_server(echo, tls=tls) as server:
        client = HttpClient(server.url, tls=trusting)
        await asyncio.gather(*(body_of(client) for _ in range(3)))
        await client.aclose()
        error = await error_of(client)

    assert isinstance(error, ServiceUnreachable)


async def test_a_client_that_may_goes_through_the_proxy_of_the_environment(
    authority: trustme.CA, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split(b"\r\n")[0])
        if b"Basic YW5uOnM=" not in head:
            writer.write(b"HTTP/1.1 407 Who are you\r\n\r\n")
        else:
            there_reader, there = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(copy(reader, there), copy(there_reader, writer))
        writer.close()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    monkeypatch.delenv("no_proxy", raising=False)
    async with (
        scripted_server(echo, tls=server_context(authority, "far.test")) as server,
        await asyncio.start_server(tunnel, "127.0.0.1", 0) as proxy,
    ):
        at = f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        monkeypatch.setenv("https_proxy", f"http://ann:s@{at}")
        async with client_of("https://far.test/", tls=trusting, by_proxy=True) as client:
            assert await body_of(client, b"hi") == b"hi"
        monkeypatch.setenv("https_proxy", at)
        async with client_of("https://far.test/", tls=trusting, by_proxy=True) as client:
            error = await error_of(client)

    assert asked == [b"CONNECT far.test:443 HTTP/1.1"] * 2
    assert f"the proxy http://{at}/ refused: 407 Who are you" in str(error)
