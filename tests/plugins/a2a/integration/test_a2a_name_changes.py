"""Webhooks and agents whose names mean something else later (DNS rebinding)."""

from collections.abc import Iterator
from typing import Any

import pytest

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.errors import ServiceUnreachable
from prolocutor.plugins.a2a.connector.connector import A2aPeer
from prolocutor.plugins.a2a.door.push_delivery import PushDelivery
from prolocutor.plugins.a2a.door.push_rules import PushRules
from prolocutor.plugins.a2a.door.webhooks import StoredWebhook
from prolocutor.plugins.a2a.wire.core import A2aPushConfig
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


async def test_a_webhook_is_checked_when_it_is_sent_to(names: Names) -> None:
    names.answers["hook.test"] = [[PUBLIC], [INSIDE]]
    rules = PushRules(["public"])
    async with server(INSIDE) as inside:
        url = f"http://hook.test:{inside.port}/x"
        refusal = await rules.refusal(url, trusted=False)
        webhooks: Any = type("Webhooks", (), {"rules": rules})
        nothing: Any = None
        delivery = PushDelivery(nothing, webhooks, nothing)
        config = A2aPushConfig(url=url, task_id="t", id="i")
        why = await delivery._post_once(StoredWebhook(config, "ann", "c", 0, False), b"{}")

    assert refusal is None
    assert why is not None
    assert why.endswith("its host is in loopback, which is not allowed")
    assert inside.visits == 0


async def test_a_redirect_of_a_webhook_leads_nowhere(names: Names) -> None:
    names.answers["hook.test"] = [[PUBLIC]]
    async with server(INSIDE) as inside:
        head = f"HTTP/1.1 307 Moved\r\nLocation: http://{INSIDE}:{inside.port}/\r\n".encode()
        async with server(PUBLIC, head=head) as there:
            url = f"http://hook.test:{there.port}/x"
            client = HttpClient(url, within={"public"})
            reply = await client.exchange(b"{}", {}, max_bytes=100)
            await client.aclose()

    assert reply.status == 307
    assert there.visits == 1
    assert inside.visits == 0


async def test_a_card_of_the_internet_names_no_address_inside(names: Names) -> None:
    names.answers["inside.test"] = [[INSIDE]]
    names.answers["agent.test"] = [[PUBLIC]]
    async with server(INSIDE) as inside:
        card = (
            b'{"name": "a", "supportedInterfaces": [{"url": "http://inside.test:%d/",'
            b' "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}], "skills": []}'
        )
        async with server(PUBLIC, body=card % inside.port) as there:
            peer = A2aPeer(f"http://agent.test:{there.port}/", headers={})
            endpoint = await peer.endpoint()
            with pytest.raises(ServiceUnreachable, match="its host is in loopback"):
                await endpoint.task("t")
            names.answers["agent.test"] = [[INSIDE]]
            peer.doubt()
            await peer.endpoint()  # the card that is there goes on to hold
            await peer.aclose()

    assert inside.visits == 0
