"""The bots of docs/howto/connect-programs.md run as they stand there."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from prolocutor.config.building import assistant_of_file
from tests.pages import ROOT, blocks

PAGE = ROOT / "docs" / "howto" / "connect-programs.md"
BOTS = {block.file: block.text for block in blocks(PAGE) if block.file}


@pytest.mark.parametrize(
    ("file", "needs", "call", "said"),
    [
        ("bot.sh", ["bash", "jq"], "{run: [bash, bot.sh]}", 'You said: Hello there, "Ann"'),
        ("bot.js", ["node"], "{run: [node, bot.js]}", 'HELLO THERE, "ANN"!'),
        ("bot.go", ["go"], "./bot", "3 words"),
    ],
)
async def test_a_bot_of_the_page_answers(
    file: str, needs: list[str], call: str, said: str, tmp_path: Path
) -> None:
    if missing := [program for program in needs if shutil.which(program) is None]:
        pytest.skip(f"bots in other languages (no {missing[0]})")
    (tmp_path / file).write_text(BOTS[file], encoding="utf-8")
    if file == "bot.go":
        built = await asyncio.to_thread(
            subprocess.run, ["go", "build", "-o", "bot", file], cwd=tmp_path, capture_output=True
        )
        if built.returncode:
            pytest.skip("bots in Go (go cannot build here)")
    assistant_file = tmp_path / "assistant.yaml"
    assistant_file.write_text(
        f"deadline: 60\nskills:\n  bot: {{connector: command, call: {call}, timeout: 50}}\n"
    )
    async with assistant_of_file(assistant_file, store="memory:") as assistant:
        replies = [await assistant.reply('Hello there, "Ann"', "ann") for _ in range(2)]

    assert [reply.text for reply in replies] == [said] * 2
