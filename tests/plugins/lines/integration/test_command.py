"""A program in any language: asked in lines, ended when it is late, started again."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ConfigError, ServiceRaised, ServiceUnreachable
from prolocutor.plugins.lines.command import Command, CommandConnector
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.testing.fake_service import FakeDeltas, FakeRequest

BASH = r"""#!/usr/bin/env bash
while IFS= read -r line; do
  case "$line" in
    *slow*) sleep 30; echo '"late"' ;;
    *late*) sleep 0.3; echo '"late"' ;;
    *die*) echo "cannot go on" >&2; exit 3 ;;
    *garbage*) env printf 'not JSON\n"shifted"\n' ;;
    *twice*) env printf '"first"\n"second"\n' ;;
    *huge*) head -c 2000000 /dev/zero | tr '\0' x; echo ;;
    *fail*) echo '{"error": "not today"}' ;;
    *words*) echo '{"delta": "Good day."}'; echo '{"confidence": 0.9}' ;;
    *) echo "\"$$ ${line//\"/}\"" ;;
  esac
done
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if shutil.which("bash") is None:
        pytest.skip("bash is not here")
    bot = tmp_path / "bot"
    bot.write_text(BASH)
    bot.chmod(0o755)
    return tmp_path


async def value(bot: CommandConnector, asked: Any, timeout: float = 20.0) -> Any:
    (reply,) = await bot.send([FakeRequest(asked, timeout=timeout)])
    return reply.value if isinstance(reply, Plain) else reply


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_what_a_program_gets_wrong_is_a_failure_and_never_the_next_answer(
    folder: Path,
) -> None:
    async with closing(CommandConnector(Command(run=["./bot"], folder=folder), name="bot")) as bot:
        pid = int((await value(bot, "hi")).split()[0])
        assert (await value(bot, "again")).split() == [str(pid), "again"]
        assert isinstance(await value(bot, "fail"), ServiceRaised)
        assert isinstance(await value(bot, "garbage"), BadReply)
        assert (await value(bot, "one")).endswith("one")
        assert await value(bot, "twice") == "first"
        assert (await value(bot, "two")).endswith("two")
        died = await value(bot, "die")
        assert isinstance(died, ServiceUnreachable)
        assert "status 3 (cannot go on)" in str(died)
        assert (await value(bot, "three")).endswith("three")
        assert isinstance(await value(bot, "huge"), ServiceUnreachable)
        assert (await value(bot, "four")).endswith("four")
        last = int((await value(bot, "five")).split()[0])
    assert not is_there(pid)
    assert not is_there(last)


async def test_a_call_that_is_late_ends_the_program_and_one_given_up_before_does_not(
    folder: Path,
) -> None:
    async with closing(CommandConnector(Command(run="./bot", folder=folder), name="bot")) as bot:
        pid = (await value(bot, "hi")).split()[0]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await value(bot, "late", timeout=20.0)
        assert (await value(bot, "next")).split() == [pid, "next"]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await value(bot, "slow", timeout=0.05)
        other, said = (await value(bot, "after")).split()
        assert said == "after"
        assert other != pid
        assert not is_there(int(pid))


async def test_copies_work_side_by_side_and_words_are_handed_on(folder: Path) -> None:
    deltas = FakeDeltas()
    async with closing(
        CommandConnector(Command(run="./bot", folder=folder, copies=2), name="bot")
    ) as bot:
        pids = await asyncio.gather(*(value(bot, n) for n in range(8)))
        (said,) = await bot.send([FakeRequest("words", deltas=deltas)])
        both = await bot.send([FakeRequest("a"), FakeRequest("b")])

    assert [pid.split()[1] for pid in pids] == [str(n) for n in range(8)]
    assert len({pid.split()[0] for pid in pids}) == 2
    assert isinstance(said, Plain)
    assert said.value == {"text": "Good day.", "confidence": 0.9}
    assert deltas.pieces == ["Good day."]
    assert [one.value.split()[1] for one in both if isinstance(one, Plain)] == ["a", "b"]


async def test_a_program_that_is_not_there_is_a_failure(folder: Path) -> None:
    async with closing(CommandConnector(Command(run="./none", folder=folder), name="bot")) as bot:
        assert "No such file" in str(await ask(bot, 1))
    with pytest.raises(ConfigError):
        CommandConnector(Command(run=""), name="bot")
