"""Processes beside the assistant: started, watched, restarted, and gone when it is gone."""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from prolocutor.connectors.http import HttpConnector
from prolocutor.dialog.plain import Plain
from prolocutor.errors import ConfigError
from prolocutor.processes.supervisor import ProcessCommand, ProcessState, Supervisor
from prolocutor.testing.connector_kit import TEST_TIMEOUT, ask, closing
from tests.integration.pids import is_gone

ROOT = Path(__file__).parents[3]
STUBBORN = Path(__file__).with_name("stubborn.py")
PID = ProcessCommand(
    "{python} -m prolocutor.processes.host tests.integration.processes.services:pid --port {port}",
    health="/health",
)


@asynccontextmanager
async def running(commands: dict[str, ProcessCommand], **options: Any) -> AsyncIterator[Supervisor]:
    options = {"folder": ROOT, "backoff": (0.01, 0.04), "grace": 0.2, **options}
    supervisor = Supervisor(commands, **options)
    async with asyncio.timeout(TEST_TIMEOUT):
        try:
            await supervisor.start()
            yield supervisor
        finally:
            await supervisor.aclose()


def python(code: str) -> ProcessCommand:
    return ProcessCommand(["{python}", "-c", code])


def only(supervisor: Supervisor) -> ProcessState:
    (state,) = supervisor.states()
    return state


async def pid_of(supervisor: Supervisor, name: str) -> int:
    async with closing(HttpConnector(supervisor.url(name), name=name)) as connector:
        reply = await ask(connector)
    assert isinstance(reply, Plain)
    return int(reply.value)


async def test_processes_answer_on_ports_of_their_own_once_started() -> None:
    async with running({"a": PID, "b": PID}) as supervisor:
        first, second = await pid_of(supervisor, "a"), await pid_of(supervisor, "b")
        states = supervisor.states()

    assert first != second
    assert [(state.name, state.state) for state in states] == [("a", "up"), ("b", "up")]
    assert [state.state for state in supervisor.states()] == ["stopped", "stopped"]
    assert is_gone(first)
    assert is_gone(second)


async def test_a_process_that_is_killed_comes_back_at_the_same_address() -> None:
    async with running({"a": PID}) as supervisor:
        first = await pid_of(supervisor, "a")
        os.kill(first, signal.SIGKILL)
        await supervisor.wait_for_phase("a", "waiting")
        await supervisor.wait_for_phase("a", "up")
        second = await pid_of(supervisor, "a")
        state = only(supervisor)

    assert first != second
    assert state.restarts == 1
    assert "was ended by SIGKILL" in str(state.last_end)


async def test_a_process_whose_launcher_is_killed_goes_with_it_and_comes_back() -> None:
    async with running({"a": PID}) as supervisor:
        first = await pid_of(supervisor, "a")
        os.kill(only(supervisor).pid or 0, signal.SIGKILL)
        gone = await asyncio.to_thread(is_gone, first)
        await supervisor.wait_for_phase("a", "waiting")
        await supervisor.wait_for_phase("a", "up")

    assert gone


async def test_a_process_that_keeps_ending_is_started_ever_more_rarely(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with running({"a": python("raise ValueError('why')")}) as supervisor:
        while only(supervisor).restarts < 4:
            await supervisor.wait_for_phase("a", "starting")
            await supervisor.wait_for_phase("a", "waiting")
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]

    why = "process a ended with status 1 (ValueError: why); again in"
    assert warnings[:4] == [f"{why} {seconds} s" for seconds in ("0.01", "0.02", "0.04", "0.04")]


@pytest.fixture
def ignored() -> Iterator[None]:
    """Have this process ignore and block signals, as what starts it may have made it."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


async def test_a_process_does_not_inherit_that_signals_are_ignored(ignored: None) -> None:
    code = (
        "import signal; numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP; "
        "print([n for n in numbers if signal.getsignal(n) == signal.SIG_IGN], "
        "signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    )
    async with running({"a": python(code)}) as supervisor:
        ended = only(supervisor).last_end

    assert ended == "ended with status 0 ([] set())"


async def test_after_a_steady_life_the_waits_start_anew(caplog: pytest.LogCaptureFixture) -> None:
    async with running({"a": python("1/0")}, steady=0.0) as supervisor:
        while only(supervisor).restarts < 3:
            await supervisor.wait_for_phase("a", "starting")
            await supervisor.wait_for_phase("a", "waiting")
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]

    assert all(warning.endswith("again in 0.01 s") for warning in warnings)


async def test_what_a_process_prints_goes_to_the_log_with_its_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    code = "import sys; print('to out'); print('to err', file=sys.stderr); print('x' * 200_000)"

    async with running({"talker": python(code)}):
        lines = [record.message for record in caplog.records if record.levelname == "INFO"]

    assert lines[:2] == ["talker: to out", "talker: to err"]
    assert lines[2] == "talker: (a line too long to show)"


async def test_a_command_that_is_not_there_is_told_at_once() -> None:
    async with running({"a": ProcessCommand("no-such-program")}) as supervisor:
        state = only(supervisor)

    assert "no-such-program: No such file or directory" in str(state.last_end)


async def test_a_process_that_does_not_come_up_in_time_is_ended() -> None:
    async with running({"a": python("import signal; signal.pause()")}, start_timeout=0.1) as s:
        state = only(s)

    assert state.last_end == "was not up after 0.1 s"


async def test_a_process_is_not_up_before_its_health_is_good() -> None:
    sick = ProcessCommand(f"{PID.run}", health="/no-such-path")
    async with running({"a": sick}, start_timeout=1.0) as supervisor:
        state = only(supervisor)

    assert state.last_end == "was not up after 1 s"


async def test_a_port_that_somebody_else_uses_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with running({"a": ProcessCommand("true", port=port)}) as supervisor:
            state = only(supervisor)

    assert state.last_end == f"cannot start: another process listens on port {port}"


async def test_a_stubborn_process_and_its_children_are_ended_at_the_close(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = ProcessCommand(["{python}", str(STUBBORN), "{port}", str(pids)])

    async with running({"a": command}) as supervisor:
        assert only(supervisor).state == "up"

    assert all(is_gone(int(pid)) for pid in pids.read_text().split())


LEAVES_A_DAEMON = """
import signal, subprocess, sys
daemon = subprocess.Popen(
    [sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True
)
print(daemon.pid)
"""


async def test_a_process_is_seen_to_end_while_what_it_left_behind_holds_its_output(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with running({"a": python(LEAVES_A_DAEMON)}, backoff=(60, 60)) as supervisor:
        state = only(supervisor)
    os.kill(int(caplog.records[0].message.removeprefix("a: ")), signal.SIGKILL)

    assert str(state.last_end).startswith("ended with status 0")


PARENT = """
import asyncio, sys
from prolocutor.processes.supervisor import ProcessCommand, Supervisor

async def main():
    supervisor = Supervisor({"a": ProcessCommand(["{python}", *sys.argv[1:]])})
    await supervisor.start()
    print(supervisor.states()[0].state, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_parent_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    words = [sys.executable, "-c", PARENT, str(STUBBORN), "{port}", str(pids)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        parent.kill()

    assert all(is_gone(int(pid)) for pid in pids.read_text().split())


@pytest.mark.parametrize(
    ("act", "complaint"),
    [
        (lambda: Supervisor({"a": PID}).url("b"), "there is no process 'b' (there is a)"),
        (lambda: Supervisor({}).url("b"), "there is no process 'b' (there is none)"),
        (
            lambda: Supervisor({"a": ProcessCommand("")}),
            "processes.a.run: the process 'a' has no command",
        ),
    ],
)
def test_what_cannot_be_is_a_config_error(act: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        act()

    assert str(caught.value) == complaint
