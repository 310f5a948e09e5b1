"""The real SDKs as the other side of tests: scripts of `tests/sdk` in an environment of their own.

`make test` makes `build/sdk` of `requirements/sdk.txt`; `PROLOCUTOR_SDK` names another folder.
Tests that need it are skipped where there is none.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "tests" / "sdk"


def sdk_python() -> Path:
    """Return the interpreter that has the SDKs; skip the test where there is none."""
    python = Path(os.environ.get("PROLOCUTOR_SDK") or ROOT / "build" / "sdk") / "bin" / "python"
    if not python.exists():
        what = 'the SDKs of other protocols (no build/sdk: "make test" makes it)'
        pytest.skip(what, allow_module_level=True)
    return python


class SdkError(Exception):
    """An exception of the script; `name` is its class, `values` are its plain attributes."""

    def __init__(self, name: str, text: str, values: dict[str, Any]) -> None:
        super().__init__(f"{name}: {text}")
        self.name = name
        self.values = values


class SdkScript:
    """A running script whose functions can be called, several at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    async def call(self, function: str, /, **arguments: Any) -> Any:
        """Call a function of the script; raise `SdkError` where it raises."""
        number, answer = len(self._calls), asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        assert self._process.stdin is not None
        line = json.dumps({"id": number, "call": function, "arguments": arguments})
        self._process.stdin.write(line.encode() + b"\n")
        return await answer

    async def close(self) -> None:
        """End the script by closing its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 60)
        except TimeoutError:
            self._process.kill()
        await self._reading

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            read = json.loads(line)
            answer = self._calls[read["id"]]
            if answer.done():
                continue
            if "error" in read:
                answer.set_exception(SdkError(*read["error"]))
            else:
                answer.set_result(read["result"])
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(SdkError("EOFError", "the script has ended", {}))


@asynccontextmanager
async def sdk_script(name: str, *arguments: str) -> AsyncIterator[SdkScript]:
    """Run the script `tests/sdk/NAME.py` as long as the context lasts."""
    process = await asyncio.create_subprocess_exec(
        sdk_python(), "-W", "ignore", SCRIPTS / f"{name}.py", *arguments,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**26,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
    )  # fmt: skip
    script = SdkScript(process)
    try:
        yield script
    finally:
        with suppress(ConnectionError):
            await script.close()
