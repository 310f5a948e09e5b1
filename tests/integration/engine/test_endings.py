"""Nothing that a service does delays another service, the next turn, or the exit."""

import asyncio
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.contracts.connector import Replies, Request
from prolocutor.dialog import plain

START = """
import asyncio, threading
import prolocutor
from prolocutor import Assistant, Pipeline, Service
from prolocutor.testing.fake_service import FakeService

for_ever = threading.Event()
OPTIONS = {"store": "memory:", "deadline": 60}
"""


def script(body: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a script in a process of its own; it has 200 seconds in all."""
    file = folder / "script.py"
    file.write_text(START + textwrap.dedent(body))
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", str(file)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_a_hundred_hung_plain_functions_delay_nobody(tmp_path: Path) -> None:
    ended = script(
        """
        def hangs(request):
            for_ever.wait()

        def answers(request):
            return {"text": request["utterances"][-1]["text"], "confidence": 1}

        async def main():
            hung = [Service(f"h{n}", hangs, timeout=0.2) for n in range(100)]
            quick = Service("quick", answers, timeout=20)
            loop = asyncio.get_running_loop()
            pipeline = Pipeline(skills=[*hung, quick])
            async with Assistant(pipeline, store="memory:", deadline=30.0) as assistant:
                for turn in range(3):
                    start = loop.time()
                    print(await_text := (await assistant.reply(str(turn), user="ann")).text)
                    assert loop.time() - start < 15.0, loop.time() - start
            assert threading.active_count() >= 100

        asyncio.run(main())
        print("out")
        """,
        tmp_path,
    )
    assert ended.stdout.split() == ["0", "1", "2", "out"], ended.stderr
    assert ended.returncode == 0


def test_one_hung_service_does_not_use_up_what_others_need(tmp_path: Path) -> None:
    ended = script(
        """
        def hangs(request):
            for_ever.wait()

        def answers(request):
            return {"text": "fine", "confidence": 1}

        async def main():
            services = [Service("hangs", hangs, timeout=0.1), Service("answers", answers)]
            async with Assistant(Pipeline(skills=services), **OPTIONS) as assistant:
                replies = await asyncio.gather(
                    *(assistant.reply("hi", user=str(n)) for n in range(100))
                )
                print({reply.text for reply in replies})

        asyncio.run(main())
        """,
        tmp_path,
    )
    assert ended.stdout == "{'fine'}\n", ended.stderr
    assert ended.returncode == 0


def test_a_service_that_swallows_its_cancellation_does_not_delay_the_exit(tmp_path: Path) -> None:
    ended = script(
        """
        async def stubborn(request):
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    pass

        async def main():
            services = [Service("odd", stubborn, timeout=0.05),
                        Service("fine", FakeService({"text": "fine", "confidence": 1}))]
            async with Assistant(Pipeline(skills=services), **OPTIONS) as assistant:
                return (await assistant.reply("hi", user="ann")).text

        print(prolocutor.run(main()))
        """,
        tmp_path,
    )
    assert ended.stdout == "fine\n"
    assert ended.stderr == ""
    assert ended.returncode == 0


@pytest.mark.parametrize("raised", ["SystemExit(3)", "KeyboardInterrupt()", "MemoryError()"])
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_service_cannot_end_the_process(raised: str, kind: str, tmp_path: Path) -> None:
    ended = script(
        f"""
        {kind} ends(request):
            raise {raised}

        async def main():
            services = [Service("odd", ends),
                        Service("fine", FakeService({{"text": "fine", "confidence": 1}}))]
            async with Assistant(Pipeline(skills=services), **OPTIONS) as assistant:
                for _ in range(2):
                    print((await assistant.reply("hi", user="ann")).text)

        prolocutor.run(main())
        """,
        tmp_path,
    )
    assert ended.stdout == "fine\nfine\n", ended.stderr
    assert ended.returncode == 0


def test_code_that_never_lets_go_of_the_interpreter_is_dumped(tmp_path: Path) -> None:
    ended = script(
        """
        def endless(request):
            import re
            re.match("(a+)+$", "a" * 26 + "b")

        async def main():
            services = [Service("odd", endless, timeout=0.1)]
            async with Assistant(Pipeline(skills=services), **OPTIONS) as assistant:
                assistant.watchdog.arm(0.5)
                await asyncio.sleep(0.6)
                await assistant.reply("hi", user="ann")

        prolocutor.run(main())
        print("out")
        """,
        tmp_path,
    )
    assert ended.stdout == "out\n"
    assert ended.returncode == 0
    assert "Timeout (0:00:00.5" in ended.stderr
    assert "in endless" in ended.stderr


def test_the_exit_takes_no_longer_than_it_must(tmp_path: Path) -> None:
    start = time.monotonic()
    ended = script("prolocutor.run(asyncio.sleep(0))", tmp_path)
    assert ended.returncode == 0
    assert time.monotonic() - start < 60


class ClosesBadly:
    """A connector that answers nothing and hangs or exits when it is closed."""

    def __init__(self, *, exits: bool) -> None:
        self._exits = exits

    async def send(self, requests: Sequence[Request]) -> Replies:
        return [plain.check([]) for _ in requests]

    async def aclose(self) -> None:
        if self._exits:
            raise SystemExit(3)
        await asyncio.Event().wait()


@pytest.mark.parametrize("exits", [False, True])
async def test_a_service_that_cannot_be_closed_does_not_keep_the_assistant_from_closing(
    exits: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("prolocutor.pipeline.engine.CLOSE_SECONDS", 0.01)
    bad = Service("bad", ClosesBadly(exits=exits))

    async with asyncio.timeout(60), Assistant(Pipeline(skills=[bad]), store="memory:") as assistant:
        await assistant.reply("hello", user="ann")

    assert "service bad" in caplog.text
    assert "of service bad" in caplog.text
