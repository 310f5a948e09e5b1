"""What hostile tests once found, each by hand as they did it."""

import asyncio

import aiohttp
import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.testing.channel_kit import Gate, pipeline
from tests.fuzz.served import served
from tests.fuzz.test_service_code import Records


async def test_faults_that_were_found_stay_away() -> None:
    async with served(pipeline(Gate())) as it, aiohttp.ClientSession(it.url) as http:

        async def status(method: str, path: str, **more: object) -> int:
            async with http.request(method, path, **more) as response:  # type: ignore[arg-type]
                await response.read()
                return response.status

        for origin in ("http://[", "http://[::1", "//", "null", "\xe9"):
            headers = {"Origin": origin}
            assert await status("GET", "/api/visitor", headers=headers) == 403
            assert await status("GET", "/health/live", headers=headers) == 200
        brackets = {"controls": "[" * 2_000}
        assert await status("GET", "/devices/configure/x", params=brackets) == 400
        said = {"user_id": "ann", "payload": "{text:.40!r}"}
        assert await status("POST", "/", json=said) == 200
        for kind, expected in (("application/jsonfoo", 400), ("application/json;x=y", 200)):
            body = b'{"user_id": "ann", "payload": "hi"}'
            headers = {"Content-Type": kind}
            assert await status("POST", "/", data=body, headers=headers) == expected
        assert await status("POST", "/uploads", data=b"hello") == 415
        assert await status("GET", "/api/user/%0A") == 200
        assert await status("POST", "/?skill=none", json=said) == 404
        async with http.get("/openapi.json") as response:
            paths = (await response.json())["paths"]
            assert "414" in paths["/api/console/jobs"]["get"]["responses"]
            assert "415" in paths["/uploads"]["post"]["responses"]
            assert "404" in paths["/"]["post"]["responses"]
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect("/api/conversation", headers={"Origin": "http://["})


@pytest.mark.parametrize("confidence", [2**64, -(10**300)])
async def test_a_turn_has_its_record_whatever_its_confidence_is(confidence: int) -> None:
    records = Records()
    sure = Service("sure", lambda request: {"text": "hi", "confidence": confidence})
    async with Assistant(
        Pipeline(skills=[sure]), store="memory:", observers=[records]
    ) as assistant:
        await assistant.reply("hi", user="ann")

    assert all(records.kept)
    assert len(records.kept) == 1


async def test_a_client_that_reuses_its_lines_loses_no_request() -> None:
    async with (
        served(pipeline(Gate()), ("deeppavlov",)) as it,
        aiohttp.ClientSession(it.url, connector=aiohttp.TCPConnector(limit=60)) as http,
    ):

        async def ask(number: int) -> str:
            body = {"user_id": f"u{number}", "payload": "hi"}
            async with http.post("/", json=body) as response:
                return str((await response.json())["response"])

        for _ in range(3):
            assert set(await asyncio.gather(*map(ask, range(150)))) <= {"1: hi", "2: hi", "3: hi"}
