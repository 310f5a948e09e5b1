"""ConnectorKit: the contract tests of a connector, to be inherited.

    class TestMyConnector(ConnectorKit):
        async def connect(self, behaviour: str) -> Connector:
            return MyConnector(...)  # a way to the function `behaviour` of testing/behaviours.py

It needs pytest and pytest-asyncio.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from prolocutor.contracts.connector import Connector
from prolocutor.dialog.plain import Plain, decode
from prolocutor.errors import ServiceError
from prolocutor.testing.fake_service import FakeRequest

TEST_TIMEOUT = 60.0
"""Seconds after which a test fails; a working connector needs far less."""

MISBEHAVIOURS = ["raises", "exits", "not_a_number", "not_plain", "too_large", "too_deep"]


class ConnectorKit:
    """The tests of every connector. Subclass it as `Test...` and override `connect`."""

    pytestmark = pytest.mark.asyncio

    async def connect(self, behaviour: str) -> Connector:
        """Return a connector to the function of this name in `prolocutor.testing.behaviours`."""
        raise NotImplementedError

    async def connect_batched(self, behaviour: str) -> Connector | None:
        """Return a connector with `batch_size > 1`; None if it cannot batch."""
        return None

    @pytest.mark.parametrize(
        "value", [{"text": "hi"}, [], "", 0, False, 1.5, [None, {"": "\N{GRINNING FACE}\n\x00"}]]
    )
    async def test_the_reply_of_the_service_is_returned(self, value: Any) -> None:
        async with closing(await self.connect("echo")) as connector:
            reply = await ask(connector, value)

        assert isinstance(reply, Plain)
        assert reply.value == value
        assert decode(reply.encoded) == value

    async def test_null_is_a_reply(self) -> None:
        async with closing(await self.connect("nothing")) as connector:
            reply = await ask(connector)

        assert isinstance(reply, Plain)
        assert reply.value is None

    async def test_concurrent_calls_get_their_own_replies(self) -> None:
        async with closing(await self.connect("echo")) as connector:
            replies = await asyncio.gather(*(ask(connector, n) for n in range(30)))

        assert [getattr(reply, "value", reply) for reply in replies] == list(range(30))

    @pytest.mark.parametrize("behaviour", MISBEHAVIOURS)
    async def test_every_failure_of_the_service_is_a_service_error(self, behaviour: str) -> None:
        async with closing(await self.connect(behaviour)) as connector:
            reply = await ask(connector)

        assert isinstance(reply, ServiceError)
        assert "Traceback" not in str(reply)

    async def test_a_call_after_a_failed_one_works(self) -> None:
        async with closing(await self.connect("echo")) as connector:
            failed = await ask(connector, {"raise": "not today"})
            reply = await ask(connector, "again")

        assert isinstance(failed, ServiceError)
        assert isinstance(reply, Plain)
        assert reply.value == "again"

    async def test_a_cancelled_call_ends_at_once_and_later_calls_work(self) -> None:
        async with closing(await self.connect("echo")) as connector:
            await ask(connector, "warm")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await connector.send([FakeRequest({"seconds": 5})])
            reply = await ask(connector, "later")

        assert isinstance(reply, Plain)
        assert reply.value == "later"

    async def test_it_can_be_closed_without_a_call_and_twice(self) -> None:
        connector = await self.connect("echo")

        await connector.aclose()
        await connector.aclose()

    async def test_a_batch_is_answered_in_its_order(self) -> None:
        async with closing(await self._connect_batched("echo_batch")) as connector:
            replies = await connector.send([FakeRequest(n) for n in range(32)])

        assert [getattr(reply, "value", reply) for reply in replies] == list(range(32))

    async def test_a_batch_may_hold_a_single_request(self) -> None:
        async with closing(await self._connect_batched("echo_batch")) as connector:
            replies = await connector.send([FakeRequest("alone")])

        assert [getattr(reply, "value", reply) for reply in replies] == ["alone"]

    async def test_a_batch_with_too_few_replies_fails(self) -> None:
        async with closing(await self._connect_batched("short_batch")) as connector:
            reply = await ask(connector, 1, 2)

        assert isinstance(reply, ServiceError)

    async def _connect_batched(self, behaviour: str) -> Connector:
        connector = await self.connect_batched(behaviour)
        if connector is None:
            pytest.skip(f"batches ({type(self).__name__} knows none)")
        return connector


@asynccontextmanager
async def closing(connector: Connector) -> AsyncIterator[Connector]:
    """Close the connector at the end, within a time limit."""
    try:
        yield connector
    finally:
        async with asyncio.timeout(TEST_TIMEOUT):
            await connector.aclose()


async def ask(connector: Connector, *values: Any) -> Plain | ServiceError:
    """Send the values in a single call; return the first reply, or the error of the call."""
    requests = [FakeRequest(value) for value in values or (None,)]
    try:
        async with asyncio.timeout(TEST_TIMEOUT):
            return (await connector.send(requests))[0]
    except ServiceError as error:
        return error
