"""What is checked of an address holds for the connection (DNS rebinding)."""

from collections.abc import Iterator

import pytest

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.connectors.parts.url import Url
from prolocutor.errors import ServiceUnreachable
from prolocutor.plugins.authoring.recognition import SharedProbe
from tests.integration.connectors.changing_names import (
    INSIDE,
    PUBLIC,
    Names,
    changing_names,
    server,
)


@pytest.fixture
def names() -> Iterator[Names]:
    with changing_names() as names:
        yield names


async def test_the_address_that_was_checked_is_connected_to(names: Names) -> None:
    names.answers["there.test"] = [[PUBLIC], [INSIDE]]
    heads: list[dict[str, str]] = []
    async with server(PUBLIC, heads) as there:
        client = HttpClient(f"http://there.test:{there.port}/x", within={"public"})
        reply = await client.post(b"{}", {}, max_bytes=100)
        with pytest.raises(ServiceUnreachable, match="loopback, which is not allowed"):
            await client.post(b"{}", {}, max_bytes=100)
        await client.aclose()

    assert reply.body == b"{}"
    assert there.visits == 1
    assert heads[0]["host"] == f"there.test:{there.port}"
    assert names.asked == ["there.test"] * 2  # once for each connection


async def test_a_host_with_an_address_that_is_not_allowed_is_refused(names: Names) -> None:
    names.answers["there.test"] = [[PUBLIC, "10.0.0.1"]]
    async with server(PUBLIC) as there:
        client = HttpClient(f"http://there.test:{there.port}/x", within={"public"})
        with pytest.raises(ServiceUnreachable, match="a private network, which is not allowed"):
            await client.post(b"{}", {}, max_bytes=100)
        await client.aclose()

    assert there.visits == 0


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/", "http://2130706433:{}/", "http://0:{}/"])
async def test_addresses_in_place_of_names_are_checked(names: Names, url: str) -> None:
    async with server(INSIDE) as there:
        client = HttpClient(url.format(there.port), within={"public"})
        with pytest.raises(ServiceUnreachable, match="not allowed"):
            await client.post(b"{}", {}, max_bytes=100)
        await client.aclose()

    assert there.visits == 0


async def test_what_is_probed_leads_nowhere_inside(names: Names) -> None:
    names.answers["agent.test"] = [[PUBLIC], [INSIDE]]
    async with server(PUBLIC) as there, server(INSIDE, port=there.port) as inside:
        probe = SharedProbe(Url.read(f"http://agent.test:{there.port}/"), None)
        is_there = await probe.is_there()
        moved = await probe.get(probe.url)
        named = await probe.get(f"http://{INSIDE}:{inside.port}/card")
        socket_ = await probe.greet(f"ws://{INSIDE}:{inside.port}/")
        await probe.aclose()

    assert is_there is True
    assert moved.status == 0
    assert named.status == 0
    assert socket_.status == 0
    assert inside.visits == 0


async def test_an_agent_of_this_machine_may_lead_anywhere(names: Names) -> None:
    async with server(INSIDE) as there, server(PUBLIC) as other:
        probe = SharedProbe(Url.read(f"http://{INSIDE}:{there.port}/"), None)
        await probe.is_there()
        answers = [
            await probe.get(f"http://{host}:{port}/")
            for host, port in ((INSIDE, there.port), (PUBLIC, other.port))
        ]
        await probe.aclose()

    assert [answer.status for answer in answers] == [200, 200]
