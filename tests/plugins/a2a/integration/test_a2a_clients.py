"""Clients made with the A2A SDK at the door, at all bindings and versions."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from prolocutor.assistant.assistant import Assistant
from prolocutor.plugins.a2a.door.door import A2a, A2aDoor
from prolocutor.plugins.a2a.door.signing import CardKey
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.plugins.a2a.integration.talkers import Talker, pipeline
from tests.sdk_environment import SdkError, SdkScript, sdk_python, sdk_script

sdk_python()  # or the whole file is skipped
pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "a secret of at least thirty-two bytes"
WAYS = [
    ("1.0", "JSONRPC", True),
    ("1.0", "HTTP+JSON", False),
    ("0.3", "JSONRPC", False),
    ("0.3", "HTTP+JSON", True),
]
"""Version, binding, and whether answers are streamed: each of the three with each other."""


class Side:
    """The running door, and the SDK at the other side of it."""

    def __init__(self, url: str, sdk: SdkScript, talker: Talker) -> None:
        self.url, self.sdk, self.talker = url, sdk, talker
        self._sent = 0

    async def connect(self, version: str, binding: str, streaming: bool, where: str = "") -> str:
        name: str = await self.sdk.call(
            "connect",
            url=self.url + where,
            version=version,
            binding=binding,
            streaming=streaming,
        )
        return name

    async def send(self, client: str, *parts: Any, **more: Any) -> list[dict[str, Any]]:
        self._sent += 1
        given = [{"text": part} if isinstance(part, str) else part for part in parts]
        configuration = more.pop("configuration", None)
        message = {"messageId": f"m{self._sent}", "role": "ROLE_USER", "parts": given, **more}
        request = {"message": message}
        if configuration is not None:
            request["configuration"] = configuration
        events: list[dict[str, Any]] = await self.sdk.call("send", client=client, request=request)
        return events

    async def call(self, client: str, method: str, **request: Any) -> Any:
        return await self.sdk.call("call", client=client, method=method, request=request)

    async def refused(self, client: str, method: str, **request: Any) -> str:
        with pytest.raises(SdkError) as raised:
            await self.call(client, method, **request)
        return raised.value.name


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def side() -> AsyncIterator[Side]:
    talker = Talker()
    async with Assistant(pipeline(talker), store="memory:", deadline=60.0) as assistant:
        app = Listener(assistant, [A2a(assistant, A2aDoor(sign=CardKey(key=SECRET)))])
        async with running(app) as url, sdk_script("a2a_client") as sdk:
            yield Side(url, sdk, talker)


def task_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The task that a client puts together from events: id, context, state, texts and data."""
    task: dict[str, Any] = {"texts": [], "data": []}
    for event in events:
        given = event.get("task") or event.get("statusUpdate") or event["artifactUpdate"]
        task["id"] = given.get("taskId", given.get("id"))
        task["context"] = given["contextId"]
        task["state"] = given.get("status", task).get("state")
        parts = given.get("status", {}).get("message", {}).get("parts", [])
        for artifact in [*given.get("artifacts", []), given.get("artifact", {})]:
            parts = [*parts, *artifact.get("parts", [])]
        task["texts"] += [part["text"] for part in parts if "text" in part]
        task["data"] += [part["data"]["type"] for part in parts if "data" in part]
    return task


@pytest.mark.parametrize(("version", "binding", "streaming"), WAYS)
async def test_a_client_talks_asks_and_answers(
    side: Side, version: str, binding: str, streaming: bool
) -> None:
    client = await side.connect(version, binding, streaming)

    plain = task_of(await side.send(client, "hello"))
    rich = task_of(await side.send(client, "rich"))
    asked = task_of(await side.send(client, "choose"))
    answered = task_of(await side.send(client, "2", taskId=asked["id"], contextId=asked["context"]))
    stored = await side.call(client, "get_task", id=asked["id"])
    open_one = task_of(await side.send(client, "ask"))
    cancelled = await side.call(client, "cancel_task", id=open_one["id"])

    assert plain["state"] == "TASK_STATE_COMPLETED"
    assert plain["texts"] == ["heard: hello"]
    assert rich["texts"] == ["look"]
    assert rich["data"] == ["button"]
    assert asked["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert asked["texts"] == ["Which?"]
    assert asked["data"] == ["choice", "choice", "ask"]
    assert answered["id"] == asked["id"]
    assert answered["texts"] == ["answer {'idx': 1, 'title': 'milk'}"]
    assert stored["status"]["state"] == answered["state"] == "TASK_STATE_COMPLETED"
    assert [one["role"] for one in stored["history"]] == ["ROLE_USER", "ROLE_AGENT", "ROLE_USER"]
    assert cancelled["status"]["state"] == "TASK_STATE_CANCELED"
    assert await side.refused(client, "cancel_task", id=asked["id"]) == "TaskNotCancelableError"
    assert await side.refused(client, "get_task", id="nobody") == "TaskNotFoundError"
    with pytest.raises(SdkError, match="UnsupportedOperationError"):
        await side.send(client, "more", taskId=asked["id"])


@pytest.mark.parametrize(("version", "binding"), [("1.0", "HTTP+JSON"), ("0.3", "JSONRPC")])
async def test_a_task_that_runs_is_seen_and_followed(
    side: Side, version: str, binding: str
) -> None:
    client = await side.connect(version, binding, False)
    follower = await side.connect(version, binding, True)

    configuration = {"returnImmediately": True}
    begun = task_of(await side.send(client, "slow", configuration=configuration))
    await side.talker.entered.wait()
    meanwhile = await side.call(client, "get_task", id=begun["id"])
    following = asyncio.create_task(side.sdk.call("subscribe", client=follower, id=begun["id"]))
    await side.sdk.call("following")
    side.talker.opened.set()
    followed = await following
    side.talker.opened.clear()
    side.talker.entered.clear()

    assert begun["state"] == meanwhile["status"]["state"] == "TASK_STATE_WORKING"
    assert task_of(followed)["state"] == "TASK_STATE_COMPLETED"


async def test_tasks_are_listed_page_by_page(side: Side) -> None:
    client = await side.connect("1.0", "HTTP+JSON", False)
    first = task_of(await side.send(client, "one"))
    for text in ("two", "three"):
        await side.send(client, text, contextId=first["context"])

    page = await side.call(client, "list_tasks", contextId=first["context"], pageSize=2)
    rest = await side.call(
        client, "list_tasks", contextId=first["context"], pageToken=page["nextPageToken"]
    )

    assert page["totalSize"] == 3
    assert len(page["tasks"]) == 2
    assert [task["id"] for task in rest["tasks"]] == [first["id"]]
    assert await side.refused(client, "list_tasks", pageSize=0) == "InvalidParamsError"


async def test_one_skill_is_an_agent_of_its_own(side: Side) -> None:
    client = await side.connect("1.0", "HTTP+JSON", False, "/a2a/skills/other")
    whole = await side.connect("1.0", "JSONRPC", False)

    alone = task_of(await side.send(client, "hello"))
    extended = await side.call(whole, "get_extended_agent_card")

    assert alone["texts"] == ["the other one"]
    assert {one.get("tenant") for one in extended["supportedInterfaces"]} >= {"talker", "other"}


async def test_the_signature_of_the_card_is_good(side: Side) -> None:
    card = await side.sdk.call("verify", url=side.url, key=SECRET, algorithm="HS256")

    assert [skill["id"] for skill in card["skills"]] == ["talker", "other"]
    with pytest.raises(SdkError, match="InvalidSignatures"):
        await side.sdk.call("verify", url=side.url, key="another " * 5, algorithm="HS256")
