"""A program that is talked to in lines is started, ended, and started again with pauses."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from prolocutor.errors import ConfigError, ServiceUnreachable
from prolocutor.processes.line_process import LineProcess

ECHO = (
    "import sys\n"
    "for line in sys.stdin:\n"
    "    if line == 'die\\n': sys.exit(print('goodbye', file=sys.stderr) or 3)\n"
    "    print('x' * 5_000_000 if line == 'long\\n' else line.strip(), flush=True)\n"
)


class Talk:
    """A program, and what came of it so far."""

    def __init__(self, run: list[str], **options: object) -> None:
        self.lines: asyncio.Queue[bytes] = asyncio.Queue()
        self.ends: asyncio.Queue[ServiceUnreachable] = asyncio.Queue()
        self.program = LineProcess(
            run,
            name="echo",
            take=self.lines.put_nowait,
            lost=self.ends.put_nowait,
            **options,  # type: ignore[arg-type]
        )

    async def say(self, text: str) -> bytes:
        """Write a line and return the next one that comes."""
        self.program.write(text.encode())
        await self.program.drain()
        return (await self.lines.get()).strip()


@asynccontextmanager
async def talking(**options: object) -> AsyncIterator[Talk]:
    talk = Talk([sys.executable, "-c", ECHO], **options)
    async with asyncio.timeout(60):
        await talk.program.start(10)
        yield talk
        await talk.program.aclose()


async def test_lines_go_both_ways_until_it_is_closed() -> None:
    async with talking() as talk:
        assert [await talk.say("a"), await talk.say("b")] == [b"a", b"b"]

    assert "ended with status 0" in str(talk.ends.get_nowait())
    with pytest.raises(ServiceUnreachable):
        talk.program.write(b"c")


async def test_a_program_that_ends_is_started_again_at_once_and_then_with_pauses() -> None:
    async with talking(backoff=(1000.0, 2000.0)) as talk:
        talk.program.write(b"die")
        first = str(await talk.ends.get())
        await talk.program.start(10)
        assert await talk.say("back") == b"back"
        talk.program.write(b"die")
        await talk.ends.get()
        with pytest.raises(ServiceUnreachable, match=r"it is started again in \d+"):
            await talk.program.start(10)

    assert "ended with status 3 (goodbye)" in first


async def test_a_line_without_end_ends_the_program() -> None:
    async with talking(max_line=1000) as talk:
        talk.program.write(b"long")

        assert "a line of more than 1,000 bytes" in str(await talk.ends.get())


async def test_a_program_that_writes_blank_lines_without_end_is_ended_while_the_loop_goes_on() -> (
    None
):
    rounds = 0

    async def count() -> None:
        nonlocal rounds
        while True:
            await asyncio.sleep(0)
            rounds += 1

    endless = "import os\nwhile True: os.write(1, b'\\n' * 65536)"
    talk = Talk([sys.executable, "-c", endless])
    counting = asyncio.create_task(count())
    async with asyncio.timeout(60):
        await talk.program.start(10)
        rounds = 0
        end = str(await talk.ends.get())
        counting.cancel()

    assert "more than 10,000 blank lines" in end
    assert rounds > 10
    assert talk.lines.empty()


async def test_a_command_that_is_not_there_says_so() -> None:
    talk = Talk(["./no-such-program"])
    async with asyncio.timeout(60):
        await talk.program.start(10)

        assert "status 127 (./no-such-program: No such file" in str(await talk.ends.get())
    with pytest.raises(ConfigError):
        Talk([])
