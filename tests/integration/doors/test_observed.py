"""What observers see of turns through a door."""

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.testing.channel_kit import STRICT, Gate, pipeline, running
from prolocutor.web.listener import Listener


async def test_metrics_count_the_turns_of_a_door() -> None:
    metrics = TurnMetrics()
    async with Assistant(pipeline(Gate()), store="memory:", observers=[metrics]) as assistant:
        app = Listener(assistant, [DeepPavlov(assistant)], metrics=metrics)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            async with http.post("/", json={"user_id": "ann", "payload": "hello"}) as reply:
                assert reply.status == 200
            async with http.get("/metrics") as response:
                text = await response.text()

    assert response.headers["Content-Type"].startswith("text/plain")
    for line in (
        'prolocutor_turns_total{by="confidence",channel="http_client"} 1.0',
        'prolocutor_breaker_state{service="gate"} 0.0',
        'prolocutor_calls_in_flight{service="gate"} 0.0',
        "prolocutor_strays 0.0",
        "prolocutor_busy 0.0",
        "prolocutor_requests 1.0",
    ):
        assert line in text.splitlines()


@pytest.mark.parametrize("secret", [None, "the-token-of-ann"])
async def test_metrics_are_for_operators(secret: str | None) -> None:
    metrics = TurnMetrics()
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    assistant = Assistant(pipeline(Gate()), store="memory:", observers=[metrics])
    async with (
        running(Listener(assistant, auth=STRICT, metrics=metrics)) as url,
        aiohttp.ClientSession(url, headers=headers) as http,
        http.get("/metrics") as response,
    ):
        assert response.status == (403 if secret else 401)


async def test_without_metrics_there_are_none() -> None:
    assistant = Assistant(pipeline(Gate()), store="memory:")
    async with (
        running(Listener(assistant)) as url,
        aiohttp.ClientSession(url) as http,
        http.get("/metrics") as response,
    ):
        assert response.status == 404


async def test_the_last_turns_can_be_looked_into() -> None:
    recent = RecentTurns()
    async with Assistant(pipeline(Gate()), store="memory:", observers=[recent]) as assistant:
        result = await assistant.turn("hello", user="ann")

    found = recent.find(result.turn_id)
    assert found is not None
    assert found.response == "1: hello"
    assert found.active_skill == "gate"
    assert [(service.name, service.outcome) for service in found.services] == [("gate", "done")]
