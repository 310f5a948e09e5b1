"""Tools of the real SDK's server are services, over HTTP and stdio, in every era of MCP."""

import asyncio
from collections.abc import Iterator
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

import pytest

from prolocutor.errors import BadReply, ServiceRaised, ServiceUnreachable
from prolocutor.plugins.mcp.connector.connector import McpConnector, McpTool
from prolocutor.testing.fake_service import FakeRequest
from tests.sdk_environment import SCRIPTS, sdk_python

TOOLS = str(SCRIPTS / "mcp_tools.py")


def said(text: str, **more: Any) -> FakeRequest:
    human = {"attributes": more.pop("attributes", {}), "user_external_id": "ann"}
    state = {"dialog_id": "d" * 32, "utterances": [{"text": text}], "human": human}
    return FakeRequest({**state, **more}, timeout=30)


async def ask(connector: McpConnector, text: str, **more: Any) -> Any:
    async with asyncio.timeout(60):
        return getattr((await connector.send([said(text, **more)]))[0], "value", None)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the address of the SDK's server."""
    with Popen(
        [sdk_python(), "-W", "ignore", TOOLS, "http"], stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        yield program.stdout.readline().decode().strip()
        program.stdin.close()


async def closing(connector: McpConnector, *texts: str) -> list[Any]:
    """Ask several things, then close the connector."""
    try:
        return [await ask(connector, text) for text in texts]
    finally:
        await connector.aclose()


async def test_every_kind_of_result_of_the_sdk_becomes_hypotheses(url: str) -> None:
    weather, words, several, plain = [
        (await closing(McpConnector(McpTool(url=url, tool=tool, confidence=0.4), name="s"), "hi"))[
            0
        ]
        for tool in ("weather", "words", "several", "plain_dict")
    ]

    assert weather == [{"text": "sunny: hi [32]", "confidence": 0.9}]
    assert [(one["text"], one["confidence"]) for one in several] == [("hi", 0.2), ("HI", 0.8)]
    assert plain == [{"text": "hi", "confidence": 0.7}]
    assert words[0]["text"] == "one\nhi"
    assert words[0]["confidence"] == 0.4
    assert [message["type"] for message in words[0]["messages"]] == ["text", "link", "picture"]


@pytest.mark.parametrize("protocol", [None, "2025-11-25", "2024-11-05"])
async def test_a_tools_question_to_the_person_becomes_an_ask(
    url: str, protocol: str | None
) -> None:
    order = McpConnector(McpTool(url=url, tool="order", protocol=protocol), name="s")
    first = (await ask(order, "pizza"))[0]
    topping = {"kind": "raw_string", "value": "ham", "raw": "ham"}
    second = (await ask(order, "ham", answer=topping))[0]
    count = {"kind": "number", "value": 3, "raw": "3"}
    last = (await ask(order, "3", answer=count))[0]
    await ask(order, "pizza")
    cancelled = (await ask(order, "no", answer={"kind": "cancelled"}))[0]
    await order.aclose()

    choose = McpConnector(McpTool(url=url, tool="choose", protocol=protocol), name="s")
    which = (await ask(choose, "coffee"))[0]
    kept = which.get("human_attributes", {})
    large = {"kind": "choice", "value": {"idx": 1, "title": "large"}, "raw": "large"}
    chosen = (await ask(choose, "large", answer=large, attributes=kept))[0]
    await choose.aclose()

    assert first["ask"] == "raw_string"
    assert second["ask"] == "number"
    assert last["text"] == "3 with ham, as in pizza"
    assert cancelled["text"] == "no order: cancel"
    assert [message["title"] for message in which["messages"] if message["type"] == "choice"] == [
        "small",
        "large",
    ]
    assert chosen["text"] == "a large coffee"


async def test_a_program_is_cancelled_fails_and_is_started_again() -> None:
    run = [str(sdk_python()), "-W", "ignore", TOOLS, "stdio"]
    waits, history, fails, dies, none = [
        McpConnector(McpTool(run=run, tool=tool), name="s")
        for tool in ("waits", "history", "fails", "dies", "wether")
    ]
    history._sessions = fails._sessions = dies._sessions = none._sessions = waits._sessions
    calling = asyncio.create_task(ask(waits, "x"))
    while "waits" not in str(await ask(history, "x")):
        pass
    calling.cancel()
    while "cancelled" not in str(await ask(history, "x")):
        pass
    with pytest.raises(BadReply, match="did you mean 'weather'"):
        await ask(none, "x")
    with pytest.raises(ServiceRaised, match="the tool failed"):
        await ask(fails, "x")
    with pytest.raises(ServiceUnreachable, match="ended with status 7"):
        await ask(dies, "x")
    again = await ask(history, "x")
    await waits.aclose()

    assert again == []
