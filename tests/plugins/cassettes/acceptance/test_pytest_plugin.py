"""Tests of an assistant are pasted and run: async, with the fixture, with a cassette."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT
from tests.plugins.cassettes.talks import write_assistant

TESTS = """
import pytest

async def test_async_without_settings():
    assert True

async def test_the_assistant_of_the_nearest_file(assistant):
    assert (await assistant.reply("Tea, please", user="ann")).active_skill == "tea"

@pytest.mark.cassette("tea.cassette")
async def test_agents_answer_from_a_cassette(assistant):
    reply = await assistant.reply("Tea, please", user="ann")
    assert reply.text.startswith("Tea number")
"""


def run_pytest(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", *options]
    environ = {name: one for name, one in os.environ.items() if name != "CI"}
    environ["PYTHONPATH"] = str(folder)
    run = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("mode", [pytest.param("strict", marks=pytest.mark.long), "auto"])
def test_a_cassette_is_recorded_once_and_then_compared(mode: str, tmp_path: Path) -> None:
    write_assistant(tmp_path)
    (tmp_path / "test_tea.py").write_text(TESTS)
    options = ["-o", f"asyncio_mode={mode}"]
    first = run_pytest(tmp_path, *options)
    again = run_pytest(tmp_path, *options, "-k", "cassette")
    (tmp_path / "test_tea.py").write_text(TESTS.replace("Tea, please", "TEA!"))
    drifted = run_pytest(tmp_path, *options, "-k", "cassette")

    assert "3 passed" in first
    assert "1 passed" in again
    assert "warning" not in f"{first}{again}".lower()
    assert '- words: "Tea, please"' in drifted
    assert '+ words: "TEA!"' in drifted


@pytest.mark.slow
def test_the_test_of_the_page_about_skills_runs_as_it_is_pasted(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "howto" / "add-a-skill.md").read_text("utf-8")
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "skills.py").write_text(next(one for one in code if "MINUTES" in one))
    (tmp_path / "test_skills.py").write_text(next(one for one in code if "def test_" in one))

    told = run_pytest(tmp_path)

    assert "2 passed" in told
    assert "warning" not in told.lower()
