"""Runs one command, and ends it with all of its processes when the parent process is gone.

`python launcher.py PARENT [--stdin] COMMAND...` in a session of its own. The end of stdin, to which
the parent writes nothing, shows that the parent is gone; on Linux the kernel sends a signal too.
With `--stdin` the command has stdin for itself. At SIGUSR2 it kills the command, reaps it, and
kills the rest of the session's group and itself. The launcher ends with the status of the command
(128 + n for signal n). It imports nothing of ours, to start fast.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import NoReturn

PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 2.0
"""Seconds between the signals to end and to kill."""

DEFAULT_SIGNALS = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGPIPE,
    signal.SIGXFSZ,
)


def main(parent: int, command: list[str]) -> NoReturn:
    """Start the command, wait for its end, and end with its status."""
    takes_stdin = command[:1] == ["--stdin"]
    command = command[takes_stdin:]
    signal.signal(signal.SIGTERM, _leave_it_to_the_command)
    signal.signal(signal.SIGINT, _leave_it_to_the_command)
    launcher = os.getpid()
    child = os.fork()
    if child == 0:
        _become(command, launcher, takes_stdin)

    def look(_number: int, _frame: FrameType | None) -> None:
        if os.getppid() != parent:
            threading.Thread(target=_end_all, daemon=True).start()

    ended: list[int] = []

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.append(child)
        os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGUSR2, end)
    signal.signal(signal.SIGUSR1, look)
    _request_death_signal(signal.SIGUSR1)
    look(0, None)
    if not takes_stdin:
        threading.Thread(target=_watch_stdin, daemon=True).start()
    else:
        _let_go_of_pipes()
    _, status = os.waitpid(child, 0)
    signal.signal(signal.SIGUSR2, _leave_it_to_the_command)  # its number may be another's now
    code = os.waitstatus_to_exitcode(status)
    if ended or os.getppid() != parent:
        os.killpg(0, signal.SIGKILL)
    os._exit(code if code >= 0 else 128 - code)


def _leave_it_to_the_command(_number: int, _frame: FrameType | None) -> None:
    """A signal for the group reaches the command by itself."""


def _become(command: list[str], launcher: int, takes_stdin: bool) -> NoReturn:
    """Turn this process into the command.

    Signals are as in a fresh login. Python ignores two of them, and a shell that starts a program
    in the background has it ignore SIGINT; the command would inherit both.
    """
    for number in DEFAULT_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    _request_death_signal(signal.SIGKILL)
    if os.getppid() != launcher:
        os._exit(1)
    if not takes_stdin:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _let_go_of_pipes() -> None:
    """Leave stdin and stdout to the command, so that the other side sees their end at once."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)


def _request_death_signal(number: signal.Signals) -> None:
    """Have this process signalled when its parent dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, number)


def _watch_stdin() -> None:
    while os.read(0, 4096):
        pass
    _end_all()


def _end_all() -> None:
    """Ask the whole group to end, then make it."""
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
