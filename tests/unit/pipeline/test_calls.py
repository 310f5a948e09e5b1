"""Calls: started at once, cut off without being joined, counted until they end."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import uvloop

from prolocutor import Assistant, Pipeline, Service
from prolocutor.errors import ServiceError, ServiceLate, ServiceRaised
from prolocutor.pipeline import calls as way_calls
from prolocutor.pipeline.calls import RunningCalls, Strays, start_now
from tests.unit.pipeline.talk import PATIENCE, settle_down

LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [
    asyncio.new_event_loop,
    uvloop.new_event_loop,
]


@pytest.fixture(params=LOOPS, ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Run a coroutine on each kind of event loop."""

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        return runner.run(asyncio.wait_for(work, PATIENCE))

    with asyncio.Runner(loop_factory=request.param) as runner:
        yield run


async def gives(value: Any) -> Any:
    return value


async def stubborn(until: asyncio.Event) -> str:
    """Swallow every cancellation until told to end."""
    while not until.is_set():
        try:
            await until.wait()
        except asyncio.CancelledError:
            continue
    return "at last"


def calls() -> tuple[RunningCalls[str], Strays]:
    strays = Strays()
    return RunningCalls(asyncio.get_running_loop(), strays), strays


async def outcome_of(work: Coroutine[Any, Any, Any], seconds: float = 60) -> Any:
    """Start one call and give what it settled with."""
    own, _ = calls()
    loop = asyncio.get_running_loop()
    own.start(work, "it", seconds, loop.time())
    while not own.settled:
        await own.wait(loop.time() + PATIENCE)
    [(token, outcome)] = own.settled
    assert token == "it"
    return outcome


Run = Callable[[Coroutine[Any, Any, Any]], Any]


def test_a_call_that_never_waits_has_settled_when_it_is_started(run: Run) -> None:
    async def test() -> None:
        own, _ = calls()
        own.start(gives(5), "it", 60, asyncio.get_running_loop().time())
        assert list(own.settled) == [("it", 5)]

    run(test())


def test_a_started_call_runs_in_a_task_of_its_own(run: Run) -> None:
    async def who() -> Any:
        return asyncio.current_task()

    async def test() -> None:
        mine = asyncio.current_task()
        assert await outcome_of(who()) is not mine
        assert asyncio.current_task() is mine

    run(test())


def test_a_service_may_use_time_outs_and_groups_of_its_own(run: Run) -> None:
    async def nested() -> str:
        try:
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        except TimeoutError:
            pass
        async with asyncio.TaskGroup() as group:
            one = group.create_task(gives("fine"))
        return one.result()

    async def test() -> None:
        assert await outcome_of(nested()) == "fine"

    run(test())


@pytest.mark.parametrize(
    "fault",
    [
        ValueError("no"),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        StopAsyncIteration(),
        asyncio.CancelledError(),
        MemoryError(),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_whatever_a_call_raises_is_its_outcome(run: Run, fault: BaseException, late: bool) -> None:
    async def raises() -> None:
        if late:
            await asyncio.sleep(0)
        raise fault

    async def test() -> None:
        assert isinstance(await outcome_of(raises()), ServiceRaised)

    run(test())


def test_a_service_error_is_given_as_it_is(run: Run) -> None:
    error = ServiceLate("no")

    async def raises() -> None:
        raise error

    async def test() -> None:
        assert await outcome_of(raises()) is error

    run(test())


def test_a_call_that_cancels_itself_harms_only_itself(run: Run) -> None:
    async def suicidal() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async def test() -> None:
        outcome = await outcome_of(suicidal())
        assert type(outcome) is ServiceRaised
        assert str(outcome) == "cancelled itself"

    run(test())


def test_a_call_is_late_after_its_seconds(run: Run) -> None:
    async def test() -> None:
        assert isinstance(await outcome_of(asyncio.Event().wait(), 0.01), ServiceLate)

    run(test())


def test_the_earliest_time_out_comes_first(run: Run) -> None:
    async def test() -> None:
        own, _ = calls()
        loop = asyncio.get_running_loop()
        now = loop.time()
        for seconds in (0.03, 0.01, 0.02):
            own.start(asyncio.Event().wait(), str(seconds), seconds, now)
        order = []
        while len(order) < 3:
            await own.wait(loop.time() + PATIENCE)
            while own.settled:
                order.append(own.settled.popleft()[0])
        assert order == ["0.01", "0.02", "0.03"]

    run(test())


def test_a_call_that_swallows_its_cancellation_is_a_stray_until_it_ends(run: Run) -> None:
    async def test() -> None:
        own, strays = calls()
        until = asyncio.Event()
        call = own.start(stubborn(until), "it", 60, asyncio.get_running_loop().time())
        own.drop(call)
        await settle_down()
        assert len(strays) == 1
        assert len(own.settled) == 0
        until.set()
        await settle_down()
        assert len(strays) == 0
        assert len(own.settled) == 0

    run(test())


def test_a_reply_after_the_time_out_does_not_count(run: Run) -> None:
    async def test() -> None:
        own, _ = calls()
        loop = asyncio.get_running_loop()
        until = asyncio.Event()
        own.start(stubborn(until), "it", 0.001, loop.time())
        while not own.settled:
            await own.wait(loop.time() + PATIENCE)
        until.set()
        await settle_down()
        assert [type(outcome) for _, outcome in own.settled] == [ServiceLate]

    run(test())


def test_closing_cancels_all_that_run_and_joins_nobody(run: Run) -> None:
    async def test() -> None:
        own, strays = calls()
        loop = asyncio.get_running_loop()
        until = asyncio.Event()
        own.start(stubborn(until), "stubborn", 60, loop.time())
        own.start(asyncio.Event().wait(), "docile", 60, loop.time())
        own.close()
        await settle_down()
        assert len(strays) == 1
        assert own.idle is True
        until.set()
        await settle_down()

    run(test())


def test_waiting_ends_when_told_to(run: Run) -> None:
    async def test() -> None:
        own, _ = calls()
        loop = asyncio.get_running_loop()
        own.start(asyncio.Event().wait(), "it", 60, loop.time())
        await own.wait(loop.time() + 0.001)
        assert not own.settled
        own.close()
        await settle_down()

    run(test())


def test_one_may_stop_waiting_and_wait_again(run: Run) -> None:
    async def test() -> None:
        own, _ = calls()
        loop = asyncio.get_running_loop()
        release = asyncio.Event()
        own.start(release.wait(), "it", 60, loop.time())
        waiting = start_now(own.wait(loop.time() + PATIENCE), loop, None)
        waiting.cancel()
        await settle_down()
        release.set()
        await own.wait(loop.time() + PATIENCE)
        assert list(own.settled) == [("it", True)]

    run(test())


def test_a_task_sees_the_context_that_it_was_started_in(run: Run) -> None:
    from contextvars import ContextVar

    variable: ContextVar[str] = ContextVar("variable", default="unset")

    async def see() -> str:
        seen = variable.get()
        variable.set("changed by the task")
        return seen

    async def test() -> None:
        variable.set("set")
        assert await outcome_of(see()) == "set"
        assert variable.get() == "set"

    run(test())


def test_a_service_error_has_its_text(run: Run) -> None:
    async def raises() -> None:
        raise ValueError("the cupboard is bare")

    async def test() -> None:
        outcome = await outcome_of(raises())
        assert isinstance(outcome, ServiceError)
        assert str(outcome) == "ValueError: the cupboard is bare"

    run(test())


# -- ways to start a task ---------------------------------------------------------------------

WAYS = [
    way_calls.start_later,
    pytest.param(
        way_calls.start_by_first_step,
        marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="only Python 3.11 needs it"),
    ),
    pytest.param(
        way_calls.start_eagerly,
        marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.12 brings it"),
    ),
]


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_start_a_task_takes_a_call_to_its_outcome(
    run: Run, way: way_calls.StartTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def waits() -> str:
        before = asyncio.current_task()
        await asyncio.sleep(0)
        assert asyncio.current_task() is before
        return "fine"

    async def raises() -> None:
        raise ValueError("no")

    async def test() -> None:
        mine = asyncio.current_task()
        assert await outcome_of(gives(5)) == 5
        assert await outcome_of(waits()) == "fine"
        assert str(await outcome_of(raises())) == "ValueError: no"
        assert isinstance(await outcome_of(asyncio.Event().wait(), 0.01), ServiceLate)
        assert asyncio.current_task() is mine

    monkeypatch.setattr(way_calls, "start_now", way)
    run(test())


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_start_a_task_gives_it_its_name(run: Run, way: way_calls.StartTask) -> None:
    async def test() -> None:
        task = way(gives(5), asyncio.get_running_loop(), "service chat")
        assert task.get_name() == "service chat"
        assert await task == 5

    run(test())


def test_the_way_that_is_taken_runs_the_first_step_at_once(run: Run) -> None:
    async def test() -> None:
        assert start_now(gives(5), asyncio.get_running_loop(), None).done()

    run(test())


@pytest.mark.interpreted
def test_where_the_detour_does_not_work_tasks_start_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise AttributeError("call_soon is read-only")

    monkeypatch.setattr(way_calls, "start_by_first_step", fails)
    monkeypatch.setattr(sys, "version_info", (3, 11, 0, "final", 0))
    assert way_calls.fastest_start() is way_calls.start_later


async def test_an_inline_service_that_cancels_the_current_task_does_not_cancel_the_turn() -> None:
    def suicidal(_: dict[str, Any]) -> dict[str, Any]:
        task = asyncio.current_task()
        if task is not None:
            task.cancel()
        return {"text": "still here", "confidence": 1.0}

    pipeline = Pipeline(skills=[Service("suicidal", suicidal, inline=True)])
    async with Assistant(pipeline, store="memory:") as assistant:
        reply = await assistant.reply("hello", user="ann")

    assert reply.text == "still here"
