"""Waiting requests of one service go out together."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from prolocutor.dialog.plain import Plain
from prolocutor.errors import (
    BadReply,
    NoPlace,
    ServiceError,
    ServiceRaised,
    ServiceUnreachable,
)
from prolocutor.pipeline.guard import MAX_LOST, Batcher
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeRequest
from tests.unit.pipeline.talk import PATIENCE, Gate, Stubborn, Talk, hypothesis, settle_down, skill

Given = list[Any]


class FakeConnector:
    """Gives what a function makes of the values of a batch; keeps the batches."""

    def __init__(self, give: Callable[[Given], Any]) -> None:
        self.batches: list[Given] = []
        self._give = give

    async def send(self, requests: Any) -> Any:
        batch = [request.value() for request in requests]
        self.batches.append(batch)
        given = self._give(batch)
        return await given if asyncio.iscoroutine(given) else given

    async def aclose(self) -> None:
        pass


def plainly(batch: Given) -> list[Plain]:
    return [Plain(value, b"") for value in batch]


async def ask(batcher: Batcher, *values: Any) -> list[Any]:
    """Ask with all values at once; give the replies' values, or what was raised."""

    async def one(value: Any) -> Any:
        try:
            [reply] = await batcher.send([FakeRequest(value)])
        except ServiceError as error:
            return type(error)
        assert isinstance(reply, Plain)
        return reply.value

    async with asyncio.timeout(PATIENCE):
        return await asyncio.gather(*map(one, values))


def sizes(connector: FakeConnector) -> list[int]:
    return [len(batch) for batch in connector.batches]


async def test_waiting_requests_go_out_together() -> None:
    connector = FakeConnector(plainly)
    assert await ask(Batcher(connector, 32), *range(10)) == list(range(10))
    assert sizes(connector) == [10]


async def test_no_batch_is_larger_than_it_may_be() -> None:
    connector = FakeConnector(plainly)
    assert await ask(Batcher(connector, 4), *range(10)) == list(range(10))
    assert sizes(connector) == [4, 4, 2]


async def test_one_request_alone_goes_out_at_once() -> None:
    connector = FakeConnector(plainly)
    asking = asyncio.create_task(ask(Batcher(connector, 32), "alone"))
    await settle_down()
    assert asking.done()


async def test_while_a_batch_is_away_the_others_gather() -> None:
    back = asyncio.Event()

    async def slow(batch: Given) -> list[Plain]:
        await back.wait()
        return plainly(batch)

    connector = FakeConnector(slow)
    batcher = Batcher(connector, 32)
    first = asyncio.create_task(ask(batcher, 0))
    await settle_down()
    rest = [asyncio.create_task(ask(batcher, n)) for n in range(1, 6)]
    await settle_down()
    back.set()
    await asyncio.gather(first, *rest)
    assert sizes(connector) == [1, 5]


async def test_one_bad_item_fails_alone() -> None:
    def give(batch: Given) -> list[Any]:
        return [BadReply("odd") if value == "bad" else Plain(value, b"") for value in batch]

    connector = FakeConnector(give)
    assert await ask(Batcher(connector, 32), 1, "bad", 3) == [1, BadReply, 3]
    assert sizes(connector) == [3]


async def test_where_a_whole_batch_is_refused_each_is_asked_alone() -> None:
    def give(batch: Given) -> list[Plain]:
        if "bad" in batch:
            raise ServiceRaised("a bad one among them")
        return plainly(batch)

    connector = FakeConnector(give)
    assert await ask(Batcher(connector, 32), 1, "bad", 3) == [1, ServiceRaised, 3]
    assert sizes(connector) == [3, 1, 1, 1]


async def test_where_nobody_answers_nobody_is_asked_alone() -> None:
    def give(batch: Given) -> list[Plain]:
        raise ServiceUnreachable("gone")

    connector = FakeConnector(give)
    assert await ask(Batcher(connector, 32), 1, 2) == [ServiceUnreachable] * 2
    assert sizes(connector) == [2]


@pytest.mark.parametrize(
    "give", [lambda batch: plainly(batch[1:]), lambda batch: plainly([*batch, 0])]
)
async def test_the_number_of_replies_is_checked(give: Any) -> None:
    def gives(batch: Given) -> Any:
        return give(batch) if len(batch) > 1 else plainly(batch)

    connector = FakeConnector(gives)
    assert await ask(Batcher(connector, 32), 1, 2) == [1, 2]
    assert sizes(connector) == [2, 1, 1]


async def test_a_wrong_number_of_replies_to_one_alone_is_a_bad_reply() -> None:
    assert await ask(Batcher(FakeConnector(lambda batch: []), 32), 1) == [BadReply]


@pytest.mark.parametrize("fault", [ValueError("no"), SystemExit(3), asyncio.CancelledError()])
async def test_whatever_a_batch_raises_is_its_failure(fault: BaseException) -> None:
    def give(batch: Given) -> Any:
        raise fault

    batcher = Batcher(FakeConnector(give), 32)
    assert await ask(batcher, 1, 2) == [ServiceRaised] * 2
    assert await ask(batcher, 3) == [ServiceRaised]


async def test_who_stopped_waiting_is_not_sent() -> None:
    back = asyncio.Event()

    async def slow(batch: Given) -> list[Plain]:
        await back.wait()
        return plainly(batch)

    connector = FakeConnector(slow)
    batcher = Batcher(connector, 32)
    first = asyncio.create_task(ask(batcher, "first"))
    await settle_down()
    gone, stays = (asyncio.create_task(ask(batcher, text)) for text in ("gone", "stays"))
    await settle_down()
    gone.cancel()
    back.set()
    await asyncio.gather(first, stays)
    assert connector.batches == [["first"], ["stays"]]


async def test_a_batch_that_nobody_waits_for_is_cancelled_and_the_next_goes_out() -> None:
    gate = Gate()

    def give(batch: Given) -> Any:
        return gate(None) if batch == ["hangs"] else plainly(batch)

    batcher = Batcher(FakeConnector(give), 32)
    hangs = asyncio.create_task(ask(batcher, "hangs"))
    await settle_down()
    later = asyncio.create_task(ask(batcher, "later"))
    hangs.cancel()
    assert await later == ["later"]
    assert gate.cancelled == 1


async def test_a_batch_that_swallows_its_cancellation_does_not_block_later_ones() -> None:
    with Stubborn() as stubborn:

        def give(batch: Given) -> Any:
            return stubborn(None) if batch == ["hangs"] else plainly(batch)

        batcher = Batcher(FakeConnector(give), 32)
        hangs = asyncio.create_task(ask(batcher, "hangs"))
        await settle_down()
        hangs.cancel()
        assert await ask(batcher, "later") == ["later"]


async def test_calls_that_never_end_are_bounded() -> None:
    with Stubborn() as stubborn:
        batcher = Batcher(FakeConnector(lambda batch: stubborn(None)), 32)
        for _ in range(MAX_LOST):
            hangs = asyncio.create_task(ask(batcher, "hangs"))
            await settle_down()
            hangs.cancel()
            await settle_down()
        assert await ask(batcher, "one more") == [NoPlace]
        assert stubborn.calls == MAX_LOST
    await settle_down()


# -- through whole turns ----------------------------------------------------------------------


class Batches:
    """A skill that answers batches of requests; it keeps their sizes."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    async def __call__(self, requests: list[Any]) -> list[Any]:
        self.sizes.append(len(requests))
        await asyncio.sleep(0)
        return [[hypothesis(request["utterances"][-1]["text"])] for request in requests]


@pytest.fixture
def batches() -> Batches:
    return Batches()


async def test_a_hundred_waiting_turns_reach_a_service_in_at_most_eight_calls(
    batches: Batches,
) -> None:
    chat = Service("chat", batches, batch_size=32)
    talks = [Talk(Pipeline(skills=[chat]))]
    engine = talks[0].engine
    for _ in range(99):
        talks.append(Talk(Pipeline(skills=[skill()])))
        talks[-1].engine = engine
    said = await asyncio.gather(*(talk.say(str(n)) for n, talk in enumerate(talks)))
    assert said == [str(n) for n in range(100)]
    assert len(batches.sizes) <= 8
    assert max(batches.sizes) == 32


async def test_the_calls_of_one_turn_go_out_together(batches: Batches) -> None:
    toxic = Service("toxic", batches, batch_size=32)
    chat = [hypothesis(str(n)) for n in range(10)]

    async def ten(request: Any) -> Any:
        return chat

    turn = await Talk(Pipeline(skills=[Service("chat", ten)], candidate_annotators=[toxic])).turn()
    assert batches.sizes == [10]
    assert all(one["annotations"]["toxic"] for one in turn.draft.hypotheses())
