"""Functions that the tests run in child processes."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

from prolocutor import TurnRequest


def pid(_: Any) -> int:
    return os.getpid()


def acts(request: dict[str, Any]) -> Any:
    """Do what the request says."""
    if "exit" in request:
        os._exit(request["exit"])
    if "abort" in request:
        os.abort()
    if "spin" in request:
        with open(request["spin"], "w") as started:  # a pipe of the test's
            started.write(f"{os.getpid()}\n")
        while True:
            pass
    if "print" in request:
        print(request["print"])
        os.write(1, b"from below\n")
        print(sys.stdin.read())
    if "signals" in request:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        return [number.name for number in numbers if signal.getsignal(number) == signal.SIG_IGN]
    return os.getpid()


async def asynchronous(request: Any) -> Any:
    return request


async def poet(turn: TurnRequest) -> AsyncIterator[Any]:
    """Say words one after the other, then how sure it is."""
    yield "Ro"
    yield "ses"
    yield {"text": "", "confidence": 0.9}
