"""What acceptance tests start from."""

import shutil
from pathlib import Path

import pytest

from tests.acceptance.commands import Commands
from tests.acceptance.commands_in_process import CommandsInProcess


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    """The command, with a data folder of its own; it runs in this process."""
    return CommandsInProcess(tmp_path / "data")


@pytest.fixture(scope="session")
def new_assistant(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that `prolocutor new` has written; tests take copies of it."""
    folder = tmp_path_factory.mktemp("new")
    CommandsInProcess(folder / "data").output("new", folder / "own")
    return folder / "own"


@pytest.fixture
def own(new_assistant: Path, tmp_path: Path) -> Path:
    """The file of a small assistant, as `prolocutor new` writes it, with the common store."""
    file = Path(shutil.copytree(new_assistant, tmp_path / "own")) / "assistant.yaml"
    text = file.read_text().replace("store: sqlite:///dialogs.db", "# no store")
    file.write_text(text)
    return file
