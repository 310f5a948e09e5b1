"""What continuous integration tries twice is named, and counts as it went the second time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
from pathlib import Path

def test_sound():
    pass

def test_disturbed():
    seen = Path("seen").exists()
    Path("seen").touch()
    assert seen

def test_broken():
    assert not Path("is_broken").exists()
"""


def test_actions_are_named_by_commit() -> None:
    files = (ROOT / ".github" / "workflows").glob("*.yml")
    used = [line for file in files for line in re.findall(r"uses: (.+)", file.read_text())]

    assert used
    assert [one for one in used if not re.search(r"@[0-9a-f]{40} # v\d", one)] == []


@pytest.mark.parametrize(
    ("is_broken", "status", "twice", "closing"),
    [
        (False, 0, ["test_it.py::test_disturbed"], "3 passed in "),
        (True, 1, ["test_it.py::test_broken", "test_it.py::test_disturbed"], "1 failed, 2 passed"),
    ],
)
def test_what_failed_is_tried_once_more_and_named(
    tmp_path: Path, is_broken: bool, status: int, twice: list[str], closing: str
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    if is_broken:
        (tmp_path / "is_broken").touch()

    ran = subprocess.run(
        [sys.executable, ROOT / ".ci" / "twice.py", sys.executable, "-m", "pytest", "test_it.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    last = ran.stdout.splitlines()[-(len(twice) + 2) :]
    assert ran.returncode == status
    assert [line.strip() for line in last[:-1]] == ["Tried twice:", *twice]
    assert last[-1].startswith(closing)
