"""The A2A door by its wire: errors, persons, restarts, webhooks, data parts."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.a2a.door.door import A2a, A2aDoor
from prolocutor.testing.channel_kit import KEY, STRICT, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener
from tests.plugins.a2a.integration.talkers import Talker, pipeline

pytestmark = pytest.mark.asyncio


class Wire:
    """A client of the door that speaks JSON-RPC 1.0."""

    def __init__(self, http: aiohttp.ClientSession, assistant: Assistant, talker: Talker) -> None:
        self.http, self.assistant, self.talker = http, assistant, talker
        self._sent = 0

    async def call(self, method: str, secret: str | None = None, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        async with self.http.post("/a2a", json=body, headers=headers) as response:
            return await response.json()

    async def say(self, *parts: Any, secret: str | None = None, **more: Any) -> Any:
        """Send a message, and return the task or the error's number."""
        self._sent += 1
        given = [{"text": part} if isinstance(part, str) else part for part in parts]
        message = {"messageId": f"m{self._sent}", "role": "ROLE_USER", "parts": given, **more}
        configuration = message.pop("configuration", {})
        found = await self.call("SendMessage", secret, message=message, configuration=configuration)
        return found["result"]["task"] if "result" in found else found["error"]["code"]


@asynccontextmanager
async def the_door(
    store: str = "memory:",
    auth: AccessPolicy | None = None,
    skills: Pipeline | None = None,
    kind: type[A2a] = A2a,
    **options: Any,
) -> AsyncIterator[Wire]:
    talker = Talker()
    async with Assistant(skills or pipeline(talker), store=store, deadline=60.0) as assistant:
        app = Listener(assistant, [kind(assistant, A2aDoor(**options))], auth=auth)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield Wire(http, assistant, talker)


def said(task: dict[str, Any]) -> list[Any]:
    parts = task["artifacts"][0]["parts"] if "artifacts" in task else []
    return [part.get("text", part.get("data")) for part in parts]


@pytest.mark.parametrize(
    ("body", "number", "id_"),
    [
        (b"{", -32700, None),
        (b"\xff", -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"GetTask"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600, None),
        (b'{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600, 1),
        (b'{"id":"seven"}', -32600, "seven"),
        (b'{"jsonrpc":"2.0","id":1}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":"x","method":"Nope"}', -32601, "x"),
        (b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":5}}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"~%%.x"}}', -32001, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":5}}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"message/send","params":[1]}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"no"}}', -32001, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":' + b'{"a":' * 5000, -32700, None),
    ],
)  # fmt: skip
async def test_what_is_no_call_is_an_error_of_json_rpc(body: bytes, number: int, id_: Any) -> None:
    async with the_door() as wire, wire.http.post("/a2a", data=body) as response:
        found = await response.json()

    assert response.status == 200
    assert found["error"]["code"] == number
    assert found["id"] == id_


@pytest.mark.parametrize(
    "message",
    [
        {"role": "ROLE_USER", "parts": [{"text": "hi"}]},
        {"messageId": "a", "parts": [{"text": "hi"}]},
        {"messageId": "a", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]},
        {"messageId": "a", "role": "ROLE_USER", "parts": []},
        {"messageId": "a", "role": "ROLE_USER", "parts": [{}]},
        {"messageId": "a", "role": "ROLE_USER", "parts": [{"text": "a", "url": "b"}]},
        {"messageId": "a", "role": "ROLE_USER", "parts": [{"raw": "%"}]},
        {"messageId": "a" * 256, "role": "ROLE_USER", "parts": [{"text": "hi"}]},
        {"messageId": "a", "role": "ROLE_USER", "parts": [{"text": "hi"}], "contextId": "c" * 300},
    ],
)
async def test_a_message_that_lacks_something_is_refused(message: dict[str, Any]) -> None:
    async with the_door() as wire:
        found = await wire.call("SendMessage", message=message)

    assert found["error"]["code"] == -32602
    assert wire.talker.seen == []


async def test_versions_are_negotiated() -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}}
    numbers = {}
    async with the_door() as wire:
        for version in ("", "1.0", "1.0.1", "0.3", "0.3.0", "2.0", "x"):
            headers = {"A2A-Version": version}
            async with wire.http.post("/a2a", json=body, headers=headers) as response:
                numbers[version] = (await response.json())["error"]["code"]

    good = dict.fromkeys(("", "1.0", "1.0.1"), -32001)
    assert numbers == {**good, **dict.fromkeys(("0.3", "0.3.0", "2.0", "x"), -32009)}


async def test_persons_do_not_see_each_other() -> None:
    ann, bob = "the-token-of-ann", "the-token-of-bob"
    async with the_door(auth=STRICT) as wire:
        own = await wire.say("ask", secret=ann)
        chosen = await wire.say("I am ann", secret=ann, contextId="same")
        there = [
            await wire.say("yes", secret=bob, contextId=own["contextId"]),
            await wire.say("yes", secret=bob, taskId=own["id"]),
            (await wire.call("GetTask", bob, id=own["id"]))["error"]["code"],
            (await wire.call("CancelTask", bob, id=own["id"]))["error"]["code"],
            (await wire.call("GetTask", bob, id=chosen["id"]))["error"]["code"],
        ]
        other = await wire.say("hello", secret=bob, contextId="same")
        listed = await wire.call("ListTasks", bob)
        mine = await wire.call("GetTask", ann, id=own["id"])
        async with wire.http.post("/a2a", json={}) as response:
            stranger = response.status, (await response.json())["error"]["status"]

    assert there == [-32602, -32001, -32001, -32001, -32001]
    assert [task["id"] for task in listed["result"]["tasks"]] == [other["id"]]
    assert len(other["history"]) == 1
    assert mine["result"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert stranger == (401, "UNAUTHENTICATED")


async def test_the_extended_card_is_for_those_who_have_a_token() -> None:
    auth = AccessPolicy(keys=[KEY], anonymous=True, loopback=False)
    told = []
    async with the_door(auth=auth) as wire:
        for headers in ({}, {"Authorization": f"Bearer {KEY}"}):
            async with wire.http.get("/a2a/extendedAgentCard", headers=headers) as response:
                told.append((response.status, response.headers.get("WWW-Authenticate")))
            body = {"jsonrpc": "2.0", "id": 3, "method": "GetExtendedAgentCard"}
            async with wire.http.post("/a2a", json=body, headers=headers) as response:
                found = await response.json()
                told.append((response.status, found["id"], "result" in found))

    assert told == [(401, "Bearer"), (401, 3, False), (200, None), (200, 3, True)]


async def test_an_anonymous_visitor_is_known_by_the_context_alone() -> None:
    open_to_all = AccessPolicy(keys=[KEY], anonymous=True, loopback=False)
    async with the_door(auth=open_to_all) as wire:
        first, second = await wire.say("one"), await wire.say("one")
        again = await wire.say("two", contextId=first["contextId"])
        guessed = await wire.say("three", contextId="guess")

    assert first["contextId"] != second["contextId"]
    assert again["contextId"] == first["contextId"]
    assert guessed == -32602


async def test_one_of_two_answers_at_once_goes_on_with_the_task() -> None:
    async with the_door() as wire:
        asked = await wire.say("ask", contextId="c")
        named = await asyncio.gather(
            *(wire.say("yes", taskId=asked["id"], messageId=f"n{n}") for n in range(3))
        )
        again = await wire.say("ask", contextId="c")
        unnamed = await asyncio.gather(*(wire.say("yes", contextId="c") for _ in range(3)))
        listed = await wire.call("ListTasks", contextId="c", includeArtifacts=True)

    assert [said(one) for one in named if not isinstance(one, int)] == [["answer True"]]
    assert [one for one in named if isinstance(one, int)] == [-32004, -32004]
    answers = {one["id"]: said(one) for one in unnamed}
    assert len(answers) == 3
    assert answers[again["id"]] == ["answer True"]
    found = {task["id"]: said(task) for task in listed["result"]["tasks"]}
    assert found == {asked["id"]: ["answer True"], **answers}


async def test_a_task_is_worked_on_while_a_person_has_the_dialog() -> None:
    message = {"messageId": "streamed", "role": "ROLE_USER", "parts": [{"text": "hello?"}]}
    stream = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage"}
    async with the_door() as wire, webhook([]) as (url, got), asyncio.timeout(60):
        who, desk = ("a2a:context-c", "c"), wire.assistant.desk
        await wire.say("hello", contextId="c")
        await desk.take(*who, by="Eva")
        configuration = {"taskPushNotificationConfig": {"url": url}}
        heard = await wire.say("help me", contextId="c", configuration=configuration)
        resent = await wire.say("help me", contextId="c", messageId="m2")
        refused = await wire.say("more", taskId=heard["id"])
        working = await wire.call("GetTask", id=heard["id"])
        params = {"message": {**message, "contextId": "c"}}
        async with wire.http.post("/a2a", json={**stream, "params": params}) as response:
            await response.content.readline()  # it runs
            while b"TASK_STATE_WORKING" not in await response.content.readline():
                pass
            await desk.say("I am here", *who, by="Eva")
            rest = await response.text()
        while not said((told := (await got.get())[1])["task"]):
            pass
        await desk.say("and more", *who, by="Eva")
        _, further = await got.get()
        answered = await wire.call("GetTask", id=heard["id"])
        last = await wire.say("thanks", contextId="c")
        await desk.give(*who, by="Eva")
        given = await wire.call("GetTask", id=last["id"])

    states = [one["status"]["state"] for one in (heard, resent, working["result"], last)]
    assert set(states) == {"TASK_STATE_WORKING"}
    assert refused == -32004
    assert said(answered["result"]) == ["I am here"]
    assert "I am here" in rest
    assert "TASK_STATE_COMPLETED" in rest
    assert said(told["task"]) == ["I am here"]
    assert further["message"]["parts"] == [{"text": "and more"}]
    assert given["result"]["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_tasks_and_webhooks_survive_a_restart(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'dialogs.db'}"
    async with the_door(store) as wire:
        done = await wire.say("hello")
        asked = await wire.say("ask", contextId="talk")
        hook = {"taskId": asked["id"], "id": "h", "url": "http://127.0.0.1:9/h"}
        await wire.call("CreateTaskPushNotificationConfig", **hook)
    async with the_door(store) as wire:
        found = [await wire.call("GetTask", id=one["id"]) for one in (done, asked)]
        hooks = await wire.call("ListTaskPushNotificationConfigs", taskId=asked["id"])
        answered = await wire.say("yes", contextId="talk", messageId="new")
        listed = await wire.call("ListTasks", contextId="talk", includeArtifacts=True)
        resent = await wire.say("ask", contextId="talk", messageId="m2")

    assert [one["result"]["status"]["state"] for one in found] == [
        "TASK_STATE_COMPLETED",
        "TASK_STATE_INPUT_REQUIRED",
    ]
    assert hooks["result"]["configs"] == [hook]
    assert answered["id"] == asked["id"]
    assert said(answered) == ["answer True"]
    assert [said(task) for task in listed["result"]["tasks"]] == [["answer True"]]
    assert resent["id"] == asked["id"]
    assert resent["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"


async def test_parts_come_in_and_go_out_untouched() -> None:
    picture = {"url": "https://example.org/a.png", "mediaType": "image/png", "filename": "a.png"}
    data = {"data": {"stars": 4}, "metadata": {"by": "me"}}
    async with the_door() as wire:
        await wire.say("look", picture, data, {"raw": "aGk="}, metadata={"trace": 1})
        rich = await wire.say("rich")
        button = rich["artifacts"][0]["parts"][2]
        pressed = await wire.say(button)
        asked = await wire.say("choose", contextId="c")
        # The SDK's clients write whole numbers as 1.0.
        chosen = await wire.say({"data": {"type": "choice", "idx": 1.0}}, contextId="c")
        await wire.say("ask picture", contextId="e")
        shown = await wire.say(picture, contextId="e")
        await wire.say("ask", contextId="d")
        yes = await wire.say({"data": {"type": "answer", "value": False}}, contextId="d")
        plain = await wire.say("rich", configuration={"acceptedOutputModes": ["text/plain"]})
        refused = await wire.say("rich", configuration={"acceptedOutputModes": ["video/mp4"]})

    seen = wire.talker.seen[0]
    assert seen["data_parts"] == [picture, data, {"raw": "aGk="}]
    assert seen["metadata"] == {"trace": 1}
    assert rich["artifacts"][0]["parts"][1] == {
        "url": "https://example.org/a.png",
        "mediaType": "image/png",
        "filename": "a hotel",
    }
    assert said(pressed) == ["answer {'room': 1}"]
    assert asked["status"]["message"]["parts"][3]["data"]["choices"][1] == {
        "idx": 1,
        "title": "milk",
    }
    assert said(chosen) == ["answer {'idx': 1, 'title': 'milk'}"]
    assert said(yes) == ["answer False"]
    assert said(shown) == [f"answer {picture['url']!r}"]
    (text,) = said(plain)
    assert "look" in text
    assert "[book]" in text
    assert refused == -32005


async def test_the_card_has_an_etag_and_a_skill_has_its_own() -> None:
    where = "/.well-known/agent-card.json"
    async with the_door(secured=True) as wire:
        async with wire.http.get(where) as response:
            card, etag = await response.json(), response.headers["ETag"]
        async with wire.http.get(where, headers={"If-None-Match": f'"x", {etag}'}) as response:
            again = response.status
        async with wire.http.get(f"/a2a/skills/other{where}") as response:
            other = await response.json()
        async with wire.http.get(f"/a2a/skills/none{where}") as response:
            unknown = response.status
        alone = await wire.call("SendMessage", tenant="other", message={
            "messageId": "t", "role": "ROLE_USER", "parts": [{"text": "hello"}]
        })  # fmt: skip
        nobody = await wire.call("GetTask", tenant="none", id="x")

    versions = [one["protocolVersion"] for one in card["supportedInterfaces"]]
    assert versions == ["1.0", "1.0", "0.3", "0.3"]
    assert card["protocolVersion"] == "0.3.0"
    assert card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"] == {"scheme": "Bearer"}
    assert card["skills"][0]["examples"] == ["talk to me"]
    assert again == 304
    assert unknown == 404
    assert other["name"] == "other"
    assert said(alone["result"]["task"]) == ["the other one"]
    assert nobody["error"]["code"] == -32602


async def test_words_are_streamed_and_marked_as_provisional() -> None:
    async def slow_words(request: dict[str, Any]) -> AsyncIterator[str]:
        for word in ("one ", "two ", "three"):
            yield word

    message = {"messageId": "s", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
    body = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "SendStreamingMessage",
        "params": {"message": message},
    }
    words = Pipeline(skills=[Service("words", slow_words)])
    async with the_door(skills=words) as wire, wire.http.post("/a2a", json=body) as response:
        lines = [line async for line in response.content if line.startswith(b"data: ")]
    events = [json.loads(line[6:])["result"] for line in lines]

    kinds = [next(iter(event)) for event in events]
    updates = [event["artifactUpdate"] for event in events if "artifactUpdate" in event]
    assert kinds[0] == "task"
    assert kinds[-1] == "statusUpdate"
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert (
        "".join(update["artifact"]["parts"][0].get("text", "") for update in updates)
        == "one two three"
    )
    assert updates[0]["metadata"] == {"provisional": True}
    assert updates[-1]["append"] is True
    assert updates[-1]["lastChunk"] is True


async def test_a_stream_whose_turn_has_not_begun_ends_when_its_task_is_cancelled() -> None:
    message = {"messageId": "s", "role": "ROLE_USER", "parts": [{"text": "hi"}], "contextId": "c"}
    body = {"jsonrpc": "2.0", "id": 7, "method": "SendStreamingMessage"}
    async with the_door() as wire, asyncio.timeout(60):
        slow = asyncio.create_task(wire.say("slow", contextId="c"))
        await wire.talker.entered.wait()

        async def stream() -> list[Any]:
            async with wire.http.post("/a2a", json={**body, "params": {"message": message}}) as got:
                return [json.loads(line[6:]) async for line in got.content if line.strip()]

        waiting = asyncio.create_task(stream())
        tasks: list[Any] = []
        while len(tasks) < 2:
            tasks = (await wire.call("ListTasks", contextId="c"))["result"]["tasks"]
        await wire.call("CancelTask", id=tasks[0]["id"])
        events = await waiting
        wire.talker.opened.set()
        await slow

    last = events[-1]["result"]["statusUpdate"]
    assert last["taskId"] == tasks[0]["id"]
    assert last["status"]["state"] == "TASK_STATE_CANCELED"


async def test_what_waits_for_a_task_ends_when_it_is_cancelled() -> None:
    asked, free = asyncio.Event(), asyncio.Event()

    async def slow(request: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        await free.wait()
        return {"text": "late", "confidence": 1.0}

    message = {"messageId": "s", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
    call = {"jsonrpc": "2.0", "id": 7, "params": {"message": message}}
    slowly = Pipeline(skills=[Service("slow", slow)])
    async with the_door(skills=slowly) as wire, asyncio.timeout(60):
        body = {**call, "method": "SendStreamingMessage"}
        async with wire.http.post("/a2a", json=body) as response:
            first = json.loads((await response.content.readline())[6:])["result"]["task"]
            await asked.wait()
            sent = asyncio.create_task(wire.say("hello", contextId="other"))
            listed: list[Any] = []
            while len(listed) < 2:
                listed = (await wire.call("ListTasks"))["result"]["tasks"]
            for task in listed:
                await wire.call("CancelTask", id=task["id"])
            rest = [line async for line in response.content if line.startswith(b"data: ")]
        blocked = await sent
        free.set()

    last = json.loads(rest[-1][6:])["result"]["statusUpdate"]
    assert [one["id"] for one in listed] == [blocked["id"], first["id"]]
    assert last["status"]["state"] == "TASK_STATE_CANCELED"
    assert blocked["status"]["state"] == "TASK_STATE_CANCELED"


# -- webhooks ---------------------------------------------------------------------------------


@asynccontextmanager
async def webhook(statuses: list[int]) -> AsyncIterator[tuple[str, asyncio.Queue[Any]]]:
    """A webhook that answers with these statuses, then with 200; what it got is in the queue."""
    got: asyncio.Queue[Any] = asyncio.Queue()

    async def take(request: web.Request) -> web.Response:
        status = statuses.pop(0) if statuses else 200
        if status == 200:
            got.put_nowait((request.headers, await request.json()))
        return web.Response(status=status)

    app = web.Application()
    app.router.add_post("/hook", take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    yield f"http://127.0.0.1:{port}/hook", got
    await runner.cleanup()


async def test_a_webhook_gets_tasks_and_what_is_said_unasked() -> None:
    async with the_door() as wire, webhook([503]) as (url, got), asyncio.timeout(60):
        config = {
            "url": url,
            "token": "t",
            "authentication": {"scheme": "Basic", "credentials": "x"},
        }
        configuration = {"taskPushNotificationConfig": config, "returnImmediately": True}
        task = await wire.say("hello", configuration=configuration)
        headers, told = await got.get()
        await wire.assistant.notify(
            f"a2a:context-{task['contextId']}", "time to go", dialog=task["contextId"]
        )
        _, unasked = await got.get()

    assert told["task"]["id"] == task["id"]
    assert told["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert headers["X-A2A-Notification-Token"] == "t"
    assert headers["Authorization"] == "Basic x"
    assert unasked["message"]["contextId"] == task["contextId"]
    assert unasked["message"]["parts"][0] == {"text": "time to go"}


@pytest.mark.parametrize(
    ("url", "secret", "is_allowed"),
    [
        ("http://127.0.0.1:9/h", KEY, True),
        ("http://10.0.0.1/h", KEY, False),
        ("http://169.254.169.254/latest", KEY, False),
        ("http://[::ffff:10.0.0.1]/h", KEY, False),
        ("file:///etc/passwd", KEY, False),
        ("gopher://127.0.0.1/x", KEY, False),
        ("http://user:secret@127.0.0.1/h", KEY, False),
        ("http://127.0.0.1:9/h", "the-token-of-ann", False),
        ("https://hooks.example.org/a2a/x", "the-token-of-ann", True),
        ("https://hooks.example.org/other", "the-token-of-ann", False),
        ("https://hooks.example.org/a2a/../x", "the-token-of-ann", False),
        ("https://hooks.example.org.evil.org/a2a/x", "the-token-of-ann", False),
    ],
)  # fmt: skip
async def test_a_webhook_has_an_address_that_is_allowed(
    url: str, secret: str, is_allowed: bool
) -> None:
    async with the_door(auth=STRICT, push=["https://hooks.example.org/a2a"]) as wire:
        task = await wire.say("hello", secret=secret)
        found = await wire.call(
            "CreateTaskPushNotificationConfig", secret, taskId=task["id"], url=url
        )

    assert ("result" in found) is is_allowed


async def test_webhooks_can_be_switched_off() -> None:
    async with the_door(push=None) as wire:
        task = await wire.say("hello")
        found = await wire.call(
            "CreateTaskPushNotificationConfig", taskId=task["id"], url="http://a"
        )

    assert found["error"]["code"] == -32003


async def test_a_large_question_is_answered_from_the_store() -> None:
    large = {"data": {"text": "x" * 50_000}}
    async with the_door() as wire:
        asked = await wire.say("ask", large, contextId="c")
        answered = await wire.say("yes", contextId="c")
        found = await wire.call("GetTask", id=asked["id"], historyLength=1)

    assert answered["id"] == asked["id"]
    assert said(answered) == ["answer True"]
    assert len(found["result"]["history"]) == 1


async def test_what_is_deleted_with_a_person_is_gone() -> None:
    async with the_door() as wire:
        task = await wire.say("hello")
        await wire.assistant.archive.delete_person(f"a2a:context-{task['contextId']}")
        found = await wire.call("GetTask", id=task["id"])

    assert found["error"]["code"] == -32001


async def test_a_subscription_ends_with_its_client() -> None:
    ended = asyncio.Event()

    class Watched(A2a):
        async def get(self, request: HttpRequest) -> HttpResponse:
            response = await super().get(request)
            assert not isinstance(response.body, bytes)
            return HttpResponse(self.pieces(response.body), content_type="text/event-stream")

        async def pieces(self, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
            async for event in events:
                yield event
            ended.set()

    async with the_door(kind=Watched) as wire, asyncio.timeout(60):
        task = await wire.say("ask")
        async with wire.http.get(f"/a2a/tasks/{task['id']}:subscribe") as response:
            first = await response.content.readline()
        await ended.wait()

    assert first.startswith(b'data: {"task":')


async def test_the_card_declares_what_replies_say_more_and_a_client_may_name_it() -> None:
    async with the_door() as wire:
        async with wire.http.get("/.well-known/agent-card.json") as response:
            (extension,) = (await response.json())["capabilities"]["extensions"]
        uri = extension["uri"]
        heads = []
        for named in (uri, "https://example.org/other"):
            headers = {"A2A-Extensions": named}
            async with wire.http.get("/a2a/tasks", headers=headers) as response:
                heads.append(response.headers.get("A2A-Extensions"))

    assert "required" not in extension
    assert heads == [uri, None]
