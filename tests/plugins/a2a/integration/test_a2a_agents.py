"""Agents made with the A2A SDK behind the connector, at all bindings and versions."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.plain import Plain
from prolocutor.errors import ServiceError
from prolocutor.plan.pipeline import Call, Pipeline, Service
from prolocutor.plugins.a2a.connector.connector import A2aAgent, A2aConnector
from prolocutor.testing.fake_service import FakeRequest
from tests.sdk_environment import SdkScript, sdk_python, sdk_script

sdk_python()  # or the whole file is skipped
pytestmark = pytest.mark.asyncio(loop_scope="module")

WAYS = [
    ("1.0", "JSONRPC", True),
    ("1.0", "HTTP+JSON", False),
    ("0.3", "JSONRPC", False),
    ("0.3", "HTTP+JSON", True),
]
"""Version, binding, and whether answers are streamed: each of the three with each other."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sdk() -> AsyncIterator[SdkScript]:
    async with sdk_script("a2a_agent") as script:
        yield script


async def said(connector: A2aConnector, text: str) -> dict | str:
    """What the connector makes of the agent's answer: a hypothesis, or the error's code."""
    try:
        (reply,) = await connector.send([FakeRequest(text)])
    except ServiceError as error:
        return f"{error.code}: {error}"
    assert isinstance(reply, Plain)
    return reply.value[0] if reply.value else "nothing"


@pytest.mark.parametrize(("version", "binding", "streaming"), WAYS)
async def test_answers_of_every_kind_come_through(
    sdk: SdkScript, version: str, binding: str, streaming: bool
) -> None:
    url = await sdk.call("serve", streaming=streaming)
    connector = A2aConnector(A2aAgent(url=url, version=version, binding=binding), name="hotels")  # type: ignore[arg-type]
    texts = ["hello", "say hi", "pieces", "data", "which", "fail", "reject", "auth", "later"]

    found = {text: await said(connector, text) for text in texts}
    await connector.aclose()

    answers = {text: one["text"] for text, one in found.items() if isinstance(one, dict)}
    assert answers == {
        "hello": "heard: hello",
        "say hi": "hi",
        "pieces": "one two three\nfour",
        "data": "a hotel",
        "which": "Which city?",
        "later": "late but there",
    }
    assert found["data"]["attributes"]["data_parts"] == [
        {"data": {"stars": 3.0, "deep": {"x": [1.0]}}}
    ]
    assert [message["type"] for message in found["data"]["messages"]] == ["text", "picture"]
    assert found["which"]["ask"] == "raw_string"
    assert found["which"]["can_continue"] is True
    assert found["fail"] == "raised: its task failed: the mill is broken"
    assert found["reject"] == "refused_4xx: it rejected the task: not me"
    assert found["auth"] == "refused_4xx: it wants a login for the task: log in"


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_call_that_is_cancelled_cancels_its_task(sdk: SdkScript, streaming: bool) -> None:
    connector = A2aConnector(
        A2aAgent(url=await sdk.call("serve", streaming=streaming)), name="hotels"
    )
    asking = asyncio.create_task(
        connector.send([FakeRequest({"text": "hang", "context_id": "here"})])
    )
    await sdk.call("until_entered")

    asking.cancel()
    await asyncio.wait([asking])
    await connector.aclose()

    assert len(await sdk.call("cancels")) == 1


async def test_a_question_goes_on_in_the_same_task(sdk: SdkScript) -> None:
    url = await sdk.call("serve")
    agent = Service("hotels", Call(url), connector="a2a", timeout=20.0)
    await sdk.call("told")
    async with Assistant(Pipeline(skills=[agent]), store="memory:", deadline=30.0) as assistant:
        asked = await assistant.turn("which", user="ann")
        answered = await assistant.turn("no", user="ann")
        chosen = [await assistant.reply(text, "ann") for text in ("choose", "milk? no, 2")]
        await assistant.reply("which", "bob")
        over = await assistant.turn("Never mind.", user="bob")
        await assistant.reply("fail", "eve")
    first, second, *_ = await sdk.call("told")

    assert asked.ask == "raw_string"
    assert answered.reply.text == "no it is"
    assert answered.ask is None
    assert first["context"] == second["context"] == asked.dialog_id
    assert first["task"] == second["task"]
    assert second["going_on"] is True
    assert chosen[0].attributes["ask"] == "choice"
    assert over.ask is None
    assert len(await sdk.call("cancels")) == 1


async def test_the_card_says_what_the_agent_does(sdk: SdkScript) -> None:
    url = await sdk.call("serve")
    connector = A2aConnector(
        A2aAgent(url=f"{url}/.well-known/agent-card.json", max_age=0.0), name="hotels"
    )

    card = await connector.describe()
    again = await connector.describe()  # by its ETag
    await connector.aclose()

    assert (
        card
        == again
        == {
            "description": "Finds hotels.\nFind a hotel.",
            "examples": ["find me a hotel", "where can I sleep in Rome?"],
        }
    )
