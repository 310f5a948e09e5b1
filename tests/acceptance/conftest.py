"""What acceptance tests start from."""

from pathlib import Path

import pytest

from tests.acceptance.commands import Commands


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    """The command, with a data folder of its own."""
    return Commands(tmp_path / "data")


@pytest.fixture
def own(commands: Commands, tmp_path: Path) -> Path:
    """The file of a small assistant, as `prolocutor new` writes it, with the common store."""
    folder = tmp_path / "own"
    commands.output("new", folder)
    file = folder / "assistant.yaml"
    text = file.read_text().replace("store: sqlite:///dialogs.db", "# no store")
    file.write_text(text)
    return file
