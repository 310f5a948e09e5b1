"""A class of DREAM's own code in a process of its own.

`python dream_program.py MODULE:CLASS [JSON]` runs in DREAM's folder, in any Python: it needs the
standard library alone. JSON has the arguments of the class. Lines of JSON on stdin are tasks, each
has a line on stdout with the reply, or `{"error": TEXT}`. Without JSON the class is only imported.
Unset variables are read from the folder's `.env`. `sentry_sdk`, which reports errors to a service
elsewhere, and `requests` need not be installed: without `sentry_sdk` nothing is reported, without
`requests` its calls fail.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any, TextIO


def main(name: str, given: str | None = None) -> None:
    """Import the class, and answer tasks until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # prints of DREAM's code are not answers
    _set_variables(".env")
    sys.path[0] = os.getcwd()
    for package, call in (("sentry_sdk", _nothing), ("requests", _not_installed)):
        try:
            importlib.import_module(package)
        except ImportError:
            sys.modules[package] = _StandIn(package, call)
    module, _, attribute = name.partition(":")
    made = getattr(importlib.import_module(module), attribute)
    if given is not None:
        asyncio.run(_answer(made(**json.loads(given)), answers))


async def _answer(connector: Any, answers: TextIO) -> None:
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        try:
            reply = json.dumps(await _reply(connector, json.loads(line)))
        except Exception as error:
            reply = json.dumps({"error": f"{type(error).__name__}: {error}"})
        print(reply, file=answers, flush=True)


async def _reply(connector: Any, task: Any) -> Any:
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def callback(task_id: str, response: Any) -> None:
        if not answer.done():
            answer.set_result(response)

    await connector.send(payload={"task_id": "", "payload": task}, callback=callback)
    reply = await answer
    if isinstance(reply, BaseException):
        raise reply
    return reply


def _set_variables(file: str) -> None:
    if os.path.isfile(file):
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                name, equals, value = line.strip().partition("=")
                if equals and not name.startswith("#"):
                    os.environ.setdefault(name, value)


class _StandIn(types.ModuleType):
    def __init__(self, name: str, call: Callable[..., None]) -> None:
        super().__init__(name)
        self._call = call

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _NotInstalled if name[0].isupper() else self._call


class _NotInstalled(Exception):
    pass


def _nothing(*_: Any, **__: Any) -> None:
    pass


def _not_installed(*_: Any, **__: Any) -> None:
    raise _NotInstalled("the package requests is not installed")


if __name__ == "__main__":
    main(*sys.argv[1:])
