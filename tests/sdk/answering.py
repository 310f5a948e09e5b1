"""What the scripts of this folder share: functions that another process calls by lines of JSON.

The scripts run in the environment of the SDKs and import nothing of Prolocutor; the other side is
`sdk_environment.py`.
"""

import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

Function = Callable[..., Awaitable[Any]]


def answer(*functions: Function) -> None:
    """Answer calls of these functions from standard input until it is closed."""
    asyncio.run(_answer({function.__name__: function for function in functions}))


async def _answer(functions: dict[str, Function]) -> None:
    reader = asyncio.StreamReader(limit=2**26)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        read = json.loads(line)
        call = asyncio.create_task(_call(read["id"], functions[read["call"]], read["arguments"]))
        running.add(call)
        call.add_done_callback(running.discard)
    for call in running:
        call.cancel()


async def _call(number: int, function: Function, arguments: dict[str, Any]) -> None:
    try:
        told = {"result": await function(**arguments)}
    except Exception as error:
        traceback.print_exc()
        told = {"error": [type(error).__name__, str(error), _plain(vars(error))]}
    print(json.dumps({"id": number, **told}), flush=True)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that JSON can say, and the headers of a response."""
    plain = {k: v for k, v in values.items() if isinstance(v, str | int | float | dict | None)}
    if "response" in values:
        plain["headers"] = dict(values["response"].headers)
    return plain
