"""`prolocutor new` as a person uses it."""

import subprocess
import sys
from pathlib import Path

from tests.acceptance.commands import Commands


def test_a_new_assistant_runs_at_once_and_passes_its_tests(
    commands: Commands, tmp_path: Path
) -> None:
    folder = tmp_path / "my-assistant"
    told = commands.output("new", folder)

    assert f'prolocutor ask "hello" --assistant {folder}/assistant.yaml' in told
    file = folder / "assistant.yaml"
    assert commands.output("ask", "hello", "--assistant", file) == "Hello! What is your name?"
    assert (folder / "dialogs.db").is_file()
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", folder], capture_output=True, text=True, check=False
    )
    assert tests.returncode == 0, tests.stdout


def test_new_leaves_a_folder_alone_that_is_not_empty(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()

    assert "not an empty folder" in commands.complaint("new", tmp_path)
    assert not (tmp_path / "assistant.yaml").exists()
