"""What may go wrong in a Python function, and that it stays that function's trouble."""

import asyncio
import functools
import gc
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import pytest

from prolocutor.connectors.python import MAX_ITEMS, PythonConnector
from prolocutor.dialog.plain import Plain, PlainItems
from prolocutor.errors import BadReply, NoPlace, ServiceRaised
from prolocutor.testing.connector_kit import TEST_TIMEOUT, ask, closing
from prolocutor.testing.fake_service import FakeRequest

Target = Callable[[Any], Any]


def _plain(target: Target) -> PythonConnector:
    return PythonConnector(target, name="s")


def _inline(target: Target) -> PythonConnector:
    return PythonConnector(target, name="s", inline=True)


def _awaited(target: Target) -> PythonConnector:
    async def awaited(request: Any) -> Any:
        return target(request)

    return PythonConnector(awaited, name="s")


WAYS = [_plain, _inline, _awaited]


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@dataclass(eq=False)
class Unequal:
    """It can be written as JSON, but not be compared with what was written."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("raised", "text"),
    [
        (ValueError("no"), "ValueError: no"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (asyncio.CancelledError(), "CancelledError"),
        (Unspeakable(), "Unspeakable: (its text cannot be read)"),
        (ValueError("\ud800"), "ValueError: ?"),
        (ValueError("x" * 10_000_000), "ValueError: " + "x" * 300),
    ],
)
async def test_an_exception_of_a_function_is_told_by_type_and_message(
    way: Callable[[Target], PythonConnector], raised: BaseException, text: str
) -> None:
    def target(_: Any) -> Any:
        raise raised

    async with closing(way(target)) as connector:
        error = await ask(connector)

    assert type(error) is ServiceRaised
    assert str(error).partition(" (at ")[0] == text


@pytest.mark.parametrize("way", [_plain, _inline])
async def test_a_function_that_raises_stop_iteration_is_no_exception(
    way: Callable[[Target], PythonConnector],
) -> None:
    async with closing(way(lambda _: next(iter([])))) as connector:
        assert str(await ask(connector)).startswith("StopIteration (at ")


async def _coroutine(_: Any) -> None: ...


async def _async_generator(_: Any) -> AsyncIterator[str]:
    yield "hi"


def _generator(_: Any) -> Iterator[str]:
    yield "hi"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "target", [lambda _: _async_generator(_), lambda _: _generator(_), lambda _: Unequal()]
)
async def test_an_invalid_reply_is_a_bad_reply(
    way: Callable[[Target], PythonConnector], target: Target
) -> None:
    async with closing(way(target)) as connector:
        error = await ask(connector)
    gc.collect()

    assert type(error) is BadReply


async def test_an_awaitable_of_a_plain_function_is_awaited_in_the_loop() -> None:
    async def answer(request: Any) -> Any:
        return request

    async with closing(_plain(lambda request: answer(request))) as connector:
        reply = await ask(connector)

    assert isinstance(reply, Plain)


async def test_an_inline_function_that_gives_something_to_be_awaited_is_a_bad_reply() -> None:
    async with closing(_inline(lambda request: _coroutine(request))) as connector:
        assert type(await ask(connector)) is BadReply


@pytest.mark.parametrize("batched", [False, True])
async def test_a_partial_and_an_object_with_an_async_call_are_awaited(batched: bool) -> None:
    class Agent:
        async def __call__(self, _: Any) -> Any:
            return [threading.current_thread() is threading.main_thread()]

    for target in (Agent(), functools.partial(Agent.__call__, Agent())):
        async with closing(PythonConnector(target, name="s", batched=batched)) as connector:
            reply = await ask(connector)

        assert isinstance(reply, Plain)
        assert reply.value == (True if batched else [True])


async def test_one_bad_item_of_a_batch_fails_alone() -> None:
    def target(_: Any) -> Any:
        return ["good", ValueError("mine"), float("inf"), BadReply("ours")]

    async with closing(PythonConnector(target, name="s", batched=True)) as connector:
        good, *bad = await connector.send([FakeRequest(n) for n in range(4)])

    assert isinstance(good, Plain)
    assert [str(error) for error in bad] == [
        "ValueError: mine",
        "$: inf is not a number that JSON has",
        "$: ours",
    ]


@pytest.mark.parametrize("reply", [None, "ab", {"a": 1, "b": 2}, 7])
async def test_a_batch_that_is_not_answered_with_a_list_fails(reply: Any) -> None:
    connector = PythonConnector(lambda _: reply, name="s", batched=True, inline=True)

    with pytest.raises(BadReply, match="a batch needs a list of 2 replies, not a"):
        await connector.send([FakeRequest(1), FakeRequest(2)])


async def test_a_cancelled_call_stays_cancelled() -> None:
    asked = asyncio.Event()

    async def target(_: Any) -> None:
        asked.set()
        await asyncio.Event().wait()

    call = asyncio.create_task(PythonConnector(target, name="s").send([FakeRequest()]))
    await asked.wait()
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_function_in_a_thread_sees_the_context_of_its_turn() -> None:
    turn: ContextVar[str] = ContextVar("turn")
    turn.set("this one")

    async with closing(_plain(lambda _: turn.get())) as connector:
        reply = await ask(connector)

    assert isinstance(reply, Plain)
    assert reply.value == "this one"


async def test_hung_functions_hold_up_no_other_service() -> None:
    release, hung = threading.Event(), [_plain(lambda _: release.wait()) for _ in range(100)]
    calls = [asyncio.create_task(connector.send([FakeRequest()])) for connector in hung]

    async with closing(_plain(lambda _: "quick")) as connector:
        reply = await ask(connector)

    assert isinstance(reply, Plain)
    assert not any(call.done() for call in calls)
    release.set()
    await asyncio.wait(calls, timeout=TEST_TIMEOUT)
    assert all(call.done() for call in calls)


async def test_when_all_threads_are_held_by_lost_calls_the_next_one_fails_at_once() -> None:
    release, taken = threading.Event(), asyncio.Queue[None]()
    loop = asyncio.get_running_loop()

    def target(_: Any) -> None:
        loop.call_soon_threadsafe(taken.put_nowait, None)
        release.wait()

    connector = PythonConnector(target, name="s", max_threads=3)
    calls = [asyncio.create_task(connector.send([FakeRequest()])) for _ in range(5)]
    for _ in range(3):
        await taken.get()
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)

    with pytest.raises(NoPlace, match="all 3 threads are held by calls that never ended"):
        await connector.send([FakeRequest()])
    release.set()
    await _until_it_answers(connector)


async def _until_it_answers(connector: PythonConnector) -> None:
    async with asyncio.timeout(TEST_TIMEOUT):
        while not isinstance(await ask(connector), Plain):
            pass


async def test_a_call_given_up_while_waiting_for_a_thread_never_runs() -> None:
    release, ran = threading.Event(), list[str]()

    def target(request: str) -> None:
        ran.append(request)
        release.wait()

    connector = PythonConnector(target, name="s", max_threads=1)
    first = asyncio.create_task(connector.send([FakeRequest("first")]))
    second = asyncio.create_task(connector.send([FakeRequest("second")]))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    release.set()
    await first
    await ask(connector, "third")

    assert ran == ["first", "third"]


async def test_threads_are_shared_by_calls_and_end_when_closed() -> None:
    connector = PythonConnector(lambda _: threading.current_thread().name, name="mine")
    before = threading.active_count()
    for _ in range(20):
        reply = await ask(connector)
    mine = [thread for thread in threading.enumerate() if thread.name == "service mine"]

    assert isinstance(reply, Plain)
    assert reply.value == "service mine"
    assert len(mine) == 1
    await connector.aclose()
    mine[0].join(TEST_TIMEOUT)
    assert threading.active_count() == before
    assert isinstance(await ask(connector), Plain)


HUNDRED_HUNG = """
import asyncio, threading, time
from prolocutor.connectors.python import MAX_ITEMS, PythonConnector
from prolocutor.testing.fake_service import FakeRequest

def sleeps(request): time.sleep(3600)
def blocks(request): threading.Lock().acquire() and threading.Event().wait()
def spins(request):
    while True: pass

async def main():
    hung = [PythonConnector((sleeps, blocks)[n % 2], name=str(n)) for n in range(98)]
    hung += [PythonConnector(spins, name=str(n)) for n in range(2)]
    calls = [asyncio.create_task(connector.send([FakeRequest()])) for connector in hung]
    done, _ = await asyncio.wait(calls, timeout=0.1)
    print(len(done))

asyncio.run(main())
"""


def test_a_hundred_hung_functions_let_the_interpreter_exit() -> None:
    run = subprocess.run(
        [sys.executable, "-c", HUNDRED_HUNG],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT,
        check=True,
    )

    assert run.stdout == "0\n"
    assert run.stderr == ""


@pytest.mark.parametrize(("number", "checked"), [(3, True), (MAX_ITEMS + 1, False)])
async def test_bad_items_of_a_list_fail_alone_unless_there_are_too_many_to_look_at(
    number: int, checked: bool
) -> None:
    items = [object(), *range(number - 1)]
    connector = PythonConnector(lambda request: items, name="s", inline=True, together=True)
    async with closing(connector):
        reply = await ask(connector, {})

    if checked:
        assert isinstance(reply, PlainItems)
        assert isinstance(reply.items[0], BadReply)
        assert reply.value == [None, *range(number - 1)]
    else:
        assert isinstance(reply, BadReply)


def _endless_words(word: str) -> Iterator[str]:
    while True:
        yield word


@pytest.mark.parametrize("word", ["x" * 1000, ""])
@pytest.mark.parametrize("is_async", [True, False])
async def test_words_without_end_are_given_up(word: str, is_async: bool) -> None:
    ended = threading.Event()

    def plain(request: Any) -> Iterator[str]:
        try:
            yield from _endless_words(word)
        finally:
            ended.set()

    async def awaited(request: Any) -> AsyncIterator[str]:
        for one in plain(request):
            yield one

    async with closing(PythonConnector(awaited if is_async else plain, name="s")) as connector:
        reply = await ask(connector)

    assert isinstance(reply, BadReply)
    gc.collect()
    assert ended.wait(TEST_TIMEOUT)
