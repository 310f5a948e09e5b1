"""ChannelKit: the contract tests of a channel, to be inherited.

    class TestMyChannel(ChannelKit):
        def make(self, assistant: Assistant) -> Channel:
            return MyChannel(assistant)

        async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> Answer:
            async with door.http.post("/mine", json={"who": user, "text": text}) as response:
                return await Answer.of(response, lambda body: body["reply"])

It drives the channel over real sockets and needs pytest, pytest-asyncio and aiohttp.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
import msgspec
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import beside
from prolocutor.contracts.channel import Channel, Openable, Route, WebSocketRoute
from prolocutor.contracts.store import DialogQuery
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener
from prolocutor.web.openapi import document
from prolocutor.web.serving import ServedApp, serve

TEST_TIMEOUT: Final = 60.0
"""Seconds after which a test fails; a working channel needs far less."""

KEY: Final = "the-key-of-the-operators"
TOKENS: Final = {"the-token-of-ann": "ann", "the-token-of-bob": "bob"}
STRICT: Final = AccessPolicy(keys=[KEY], tokens=TOKENS, loopback=False)


class Door(msgspec.Struct):
    """A client of the channel of a running assistant."""

    url: str
    http: aiohttp.ClientSession
    assistant: Assistant
    app: Listener
    gate: Gate

    @asynccontextmanager
    async def other_visitor(self, secret: str | None) -> AsyncIterator[Door]:
        """Yield a client with another key or token, or with none."""
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        async with aiohttp.ClientSession(self.url, headers=headers) as http:
            yield msgspec.structs.replace(self, http=http)


class DoorAnswer(msgspec.Struct):
    """A response: the status, the reply's text if any, and the body."""

    status: int
    text: str | None
    body: Any
    headers: Any = None

    @classmethod
    async def read_response(
        cls, response: aiohttp.ClientResponse, text: Callable[[Any], str]
    ) -> DoorAnswer:
        """Read a JSON response; `text` finds the reply's text in the body of a 200."""
        body = await response.json()
        found = text(body) if response.status == 200 else None
        return cls(response.status, found, body, response.headers)


class Gate:
    """A skill that counts a person's inputs: `3: hello`; "wait" waits for the gate to open."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()
        self.calls = 0

    async def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request."""
        self.calls += 1
        text = request["human_utterances"][-1]["text"]
        number = request["human"]["attributes"].get("number", 0) + 1
        if text == "wait":
            self.entered.set()
            await self.opened.wait()
        reply = f"{number}: {text}"
        return {"text": reply, "confidence": 1.0, "human_attributes": {"number": number}}


class ChannelKit:
    """The tests of every channel. Subclass it as `Test...` and override `make` and `say`."""

    pytestmark = pytest.mark.asyncio

    takes_keys = True
    """Whether an input can carry an idempotency key."""

    def make(self, assistant: Assistant) -> Channel:
        """Make the channel for an assistant."""
        raise NotImplementedError

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        """Send an input to the channel as `user` and wait for the reply."""
        raise NotImplementedError

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        """Send a request unreadable for the channel."""
        raise NotImplementedError

    @asynccontextmanager
    async def door(self, auth: AccessPolicy | None = None) -> AsyncIterator[Door]:
        """Run an assistant behind this channel, with a client."""
        async with run_door(self.make, auth) as door:
            yield door

    async def test_an_input_gets_a_reply(self) -> None:
        async with self.door() as door:
            answer = await self.say(door, "hello", user="ann")

        assert (answer.status, answer.text) == (200, "1: hello")

    async def test_users_have_the_prefix_of_the_channel(self) -> None:
        async with self.door() as door:
            await self.say(door, "hello", user="ann")
            found = await door.assistant.store.dialog_ids(DialogQuery(user=self._user(door, "ann")))

        assert len(found) == 1

    async def test_inputs_of_two_users_do_not_mix(self) -> None:
        async with self.door() as door:
            await self.say(door, "hello", user="ann")
            answer = await self.say(door, "hello", user="bob")

        assert answer.text == "1: hello"

    async def test_a_token_cannot_act_for_another_user(self) -> None:
        async with self.door(STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
            own = await self.say(ann, "it is me", user="ann")
            other = await self.say(ann, "it is bob", user="bob")
            found = await door.assistant.store.dialog_ids(DialogQuery(user=self._user(door, "bob")))

        assert own.status == 200
        assert (other.status, other.body["code"], found) == (403, "forbidden", [])

    async def test_an_operator_can_act_for_any_user(self) -> None:
        async with self.door(STRICT) as door, door.other_visitor(KEY) as operator:
            answer = await self.say(operator, "hello", user="bob")

        assert answer.text == "1: hello"

    @pytest.mark.parametrize("secret", [None, "a-guess"])
    async def test_a_request_without_a_valid_secret_is_refused(self, secret: str | None) -> None:
        async with self.door(STRICT) as door, door.other_visitor(secret) as stranger:
            answer = await self.say(stranger, "hello", user="ann")

        assert (answer.status, answer.body["code"]) == (401, "unauthenticated")
        assert door.gate.calls == 0

    async def test_a_malformed_request_is_a_client_error(self) -> None:
        async with self.door() as door:
            answer = await self.say_nonsense(door, user="ann")

        assert answer.status == 400
        assert answer.body.keys() == {"error", "code", "field"}
        assert door.gate.calls == 0

    async def test_a_text_that_is_too_long_is_a_client_error(self) -> None:
        async with self.door() as door:
            answer = await self.say(door, "x" * 100_001, user="ann")

        assert (answer.status, answer.body["code"]) == (400, "bad_input")

    async def test_the_same_key_gets_the_same_reply(self) -> None:
        self._needs_keys()
        async with self.door() as door:
            answers = [await self.say(door, "hello", user="ann", key="k") for _ in range(3)]

        assert [answer.text for answer in answers] == ["1: hello"] * 3
        assert door.gate.calls == 1

    async def test_the_same_key_with_another_text_is_a_conflict(self) -> None:
        self._needs_keys()
        async with self.door() as door:
            await self.say(door, "hello", user="ann", key="k")
            answer = await self.say(door, "goodbye", user="ann", key="k")

        assert (answer.status, answer.body["code"]) == (422, "conflict")

    async def test_keys_of_different_users_do_not_collide(self) -> None:
        self._needs_keys()
        async with self.door() as door:
            await self.say(door, "hello", user="ann", key="k")
            answer = await self.say(door, "goodbye", user="bob", key="k")

        assert answer.text == "1: goodbye"

    async def test_concurrent_inputs_of_a_user_are_answered_in_order(self) -> None:
        async with self.door() as door:
            answers = await asyncio.gather(
                *(self.say(door, f"message {n}", user="ann") for n in range(100))
            )
            (dialog_id,) = await door.assistant.store.dialog_ids(
                DialogQuery(user=self._user(door, "ann"))
            )
            dialog = await door.assistant.store.dialog(dialog_id)

        assert dialog is not None
        texts = [utterance.text for utterance in dialog.utterances]
        assert texts[1::2] == [f"{n}: {text}" for n, text in enumerate(texts[0::2], 1)]
        assert sorted(texts[1::2]) == sorted(str(answer.text) for answer in answers)

    async def test_a_turn_ends_even_if_its_client_disconnects(self) -> None:
        async with self.door() as door:
            with beside(self.say(door, "wait", user="ann")):
                await door.gate.entered.wait()
            door.gate.opened.set()
            said = await self._reply_in_feed(door, "ann")

        assert said == "1: wait"

    async def test_a_new_request_is_refused_during_shutdown(self) -> None:
        async with self.door() as door:
            await door.app.drain()
            answer = await self.say(door, "hello", user="ann")

        assert (answer.status, answer.body["code"]) == (503, "stopping")
        assert "Retry-After" in answer.headers

    async def test_a_running_turn_is_answered_during_shutdown(self) -> None:
        async with self.door() as door, asyncio.TaskGroup() as group:
            asking = group.create_task(self.say(door, "wait", user="ann"))
            await door.gate.entered.wait()
            stopping = group.create_task(door.app.drain())
            await asyncio.wait([stopping], timeout=0)
            door.gate.opened.set()

        assert asking.result().text == "1: wait"

    async def test_openapi_describes_all_its_routes(self) -> None:
        async with Assistant(pipeline(Gate()), store="memory:") as assistant:
            channel = self.make(assistant)
            described = document("a", {channel.name: channel.routes})["paths"]

        for route in channel.routes:
            if isinstance(route, Route | WebSocketRoute):
                path = re.sub(r":\w+}", "}", route.path)
                method = route.method.lower() if isinstance(route, Route) else "get"
                assert described[path][method]["summary"]

    async def test_it_can_be_opened_and_closed_without_a_request(self) -> None:
        async with Assistant(pipeline(Gate()), store="memory:") as assistant:
            channel = self.make(assistant)

            if isinstance(channel, Openable):
                await channel.open()
                await channel.close()

    def _user(self, door: Door, name: str) -> str:
        return self.make(door.assistant).prefix + name

    def _needs_keys(self) -> None:
        if not self.takes_keys:
            pytest.skip(f"idempotency keys ({type(self).__name__} takes none)")

    async def _reply_in_feed(self, door: Door, name: str) -> str:
        """Wait until the reply to a person is stored, and return its text."""
        async for row in door.assistant.feed(self._user(door, name)):
            if row.message is not None and row.message["type"] == "text":
                return str(row.message["text"])
        raise AssertionError("the feed came to an end")


@asynccontextmanager
async def run_door(
    make: Callable[[Assistant], Channel], auth: AccessPolicy | None = None, **options: Any
) -> AsyncIterator[Door]:
    """Run a counting assistant behind a channel; `options` are those of `Listener`."""
    gate = Gate()
    async with (
        asyncio.timeout(TEST_TIMEOUT),
        Assistant(pipeline(gate), store="memory:", deadline=TEST_TIMEOUT) as assistant,
    ):
        app = Listener(assistant, [make(assistant)], auth=auth, **options)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield Door(url, http, assistant, app, gate)


@asynccontextmanager
async def running(app: ServedApp, **options: Any) -> AsyncIterator[str]:
    """Serve an app on a free port of this machine; yield its URL."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(serve(app, port=0, on_ready=ready.set_result, stop=stop, **options))
        yield await ready
        stop.set()


def pipeline(gate: Gate) -> Pipeline:
    """Make a pipeline of the counting skill alone."""
    return Pipeline(skills=[Service("gate", gate)])
