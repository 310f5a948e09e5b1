"""Code that never yields the event loop is named, and left alone afterwards."""

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.watchdog import MOST_FRAMES, Watchdog
from prolocutor.pipeline.guard import RunningCell
from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.assistant.talks import assistant
from tests.unit.pipeline.talk import PATIENCE, hypothesis, settle_down, skill

Target = Any


class Alarm(logging.Handler):
    """Lets blocking code go as soon as the watchdog has barked."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.barked = threading.Event()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
        self.barked.set()

    def block(self, given: Any = None) -> Any:
        """Hold up whoever calls this until the watchdog has barked."""
        assert self.barked.wait(PATIENCE)
        return given


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    alarm = Alarm()
    log = logging.getLogger("prolocutor.assistant.watchdog")
    log.addHandler(alarm)
    yield alarm
    log.removeHandler(alarm)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the watchdogs of assistants look often and bark early."""
    set_up = Watchdog.__init__

    def hurry(self: Watchdog, *args: Any, **options: Any) -> None:
        set_up(self, *args, **{**options, "limit": 0.1, "pace": 0.01})

    monkeypatch.setattr(Watchdog, "__init__", hurry)


def guard_of(it: Any, name: str) -> Any:
    [guard] = [step.guard for step in it.engine.prepared.every() if step.name == name]
    return guard


async def left_alone(it: Any, name: str) -> bool:
    """Return whether the breaker of a service is open, once the watchdog has had its say."""
    guard = guard_of(it, name)
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while guard.breaker.state != "open" and loop.time() < end:  # noqa: ASYNC110 - from a thread
        await asyncio.sleep(0.005)
    return bool(guard.breaker.state == "open")


def services(alarm: Alarm) -> dict[str, Service]:
    async def at_once(request: Any) -> Any:
        return alarm.block(hypothesis("late"))

    async def after_a_wait(request: Any) -> Any:
        await asyncio.sleep(0)
        return alarm.block(hypothesis("late"))

    async def batch(requests: list[Any]) -> list[Any]:
        return alarm.block([hypothesis("late") for _ in requests])  # type: ignore[no-any-return]

    async def quick(request: Any) -> Any:
        return hypothesis("quick")

    def inline(request: Any) -> Any:
        return alarm.block(hypothesis("late"))

    return {
        "at once": Service("odd", at_once),
        "after a wait": Service("odd", after_a_wait),
        "with retries": Service("odd", at_once, retries=1),
        "batch": Service("odd", batch, batch_size=4),
        "inline": Service("odd", inline, inline=True),
        "formatter": Service("odd", quick, formatter=alarm.block),
        "response formatter": Service("odd", quick, response_formatter=alarm.block),
    }


@pytest.mark.parametrize("how", services(Alarm()))
async def test_a_service_that_holds_up_the_loop_is_named_and_left_alone(
    alarm: Alarm, how: str
) -> None:
    async with assistant(services(alarm)[how], skill("fine")) as it:
        await it.reply("hi", user="ann")
        assert await left_alone(it, "odd")
    [text] = alarm.texts
    assert "the event loop is held up by service odd" in text
    assert "in block" in text


async def test_a_service_that_imports_is_named_and_not_left_alone(
    alarm: Alarm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text("import sys\n\nsys.modules['alarm'].block()\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "alarm", alarm)

    def importing(request: Any) -> Any:
        import_module("imported_late")
        return hypothesis("late")

    def blocking_then(request: Any) -> Any:
        said = request["utterances"][-1]["text"]
        return alarm.block(hypothesis("late")) if said == "then" else hypothesis("at once")

    first = Service("first", importing, inline=True)
    other = Service("other", blocking_then, inline=True)
    async with assistant(first, other) as it:
        await it.reply("first", user="ann")
        await settle_down()
        alarm.barked.clear()
        await it.reply("then", user="ann")
        assert await left_alone(it, "other")
        assert guard_of(it, "first").breaker.state == "closed"
    assert "held up by service first" in alarm.texts[0]


async def test_only_the_innermost_calls_are_shown(alarm: Alarm) -> None:
    def deep(calls: int) -> Any:
        return deep(calls - 1) if calls else alarm.block(hypothesis("late"))

    async with assistant(Service("odd", lambda _: deep(50), inline=True)) as it:
        await it.reply("hi", user="ann")
    [text] = alarm.texts
    assert "in block" in text
    assert text.count("File ") <= MOST_FRAMES


async def test_the_next_turn_goes_without_it(alarm: Alarm) -> None:
    async with assistant(services(alarm)["at once"], skill("fine", "fine", 0.1)) as it:
        await it.reply("hi", user="ann")
        await left_alone(it, "odd")
        assert (await it.reply("hi", user="ann")).text == "fine"


async def test_a_caller_from_outside_the_pipeline_is_watched_too(alarm: Alarm) -> None:
    async with assistant(services(alarm)["at once"]) as it:
        watchdog = Watchdog(
            lambda: True,
            [step.guard for step in it.engine.prepared.every()],
            it.engine.prepared.running,
        )
        watchdog.start()
        await it.engine.call("odd", {}, timeout=60)
        assert await left_alone(it, "odd")
        watchdog.stop()


async def test_a_callback_that_a_service_leaves_in_the_loop_is_its_own(alarm: Alarm) -> None:
    async def leaves(request: Any) -> Any:
        asyncio.get_running_loop().call_soon(lambda: alarm.block())
        await asyncio.sleep(0)
        return hypothesis("left")

    async with assistant(Service("odd", leaves), skill("fine")) as it:
        await it.reply("hi", user="ann")
        assert await left_alone(it, "odd")
    assert "the event loop is held up by service odd" in alarm.texts[0]


async def test_code_of_no_service_is_not_blamed_on_one(alarm: Alarm) -> None:
    async with assistant(skill()) as it:
        guards = [step.guard for step in it.engine.prepared.every()]
        watchdog = Watchdog(lambda: True, guards, it.engine.prepared.running)
        watchdog.start()
        alarm.block()
        watchdog.stop()
        await settle_down()
        assert [guard.breaker.state for guard in guards] == ["closed"]
    assert "held up by code of no service" in alarm.texts[0]


@pytest.mark.parametrize(
    ("seconds", "cpu_seconds", "starved"),
    [(1.0, 0.01, False), (1.0, 0.2, True), (4.0, 1.1, False), (11.0, 0.9, False)],
    ids=["asleep", "a fifth of a processor", "a second of it", "after ten times the limit"],
)
def test_a_process_that_computes_on_a_busy_machine_gets_its_second_of_the_processor(
    seconds: float, cpu_seconds: float, starved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    watchdog = Watchdog(lambda: True, [], RunningCell())
    monkeypatch.setattr(watchdog, "_limit", 1.0)

    assert watchdog._is_starved(seconds, cpu_seconds) is starved


async def test_a_loop_that_comes_round_is_left_in_peace(alarm: Alarm) -> None:
    async with assistant(skill()) as it:
        for _ in range(20):
            await it.reply("hi", user="ann")
            await asyncio.sleep(0.005)
    assert alarm.texts == []


async def test_nobody_is_watched_while_no_turn_is_running(alarm: Alarm) -> None:
    async with assistant(skill()):
        assert not alarm.barked.wait(0.1)


async def test_a_watchdog_stops_with_its_assistant() -> None:
    before = set(threading.enumerate())  # other tests may have left assistants that were killed
    async with assistant(pipeline=Pipeline(skills=[skill()])):
        started = set(threading.enumerate()) - before
        [watchdog] = [thread for thread in started if thread.name == "watchdog"]
    watchdog.join(PATIENCE)
    assert not watchdog.is_alive()
