"""Replicas fail in every way under load and nothing is lost; the soak finds what would be wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgresql_server import found

pytest.importorskip("asyncpg")

SOAK = Path(__file__).parents[2] / "bench" / "soak_replicas.py"
pytestmark = pytest.mark.slow


def soaked(tmp_path: Path, seconds: int, faults: str, control: str = "") -> tuple[int, str]:
    """Run the soak; return its exit status and what it prints."""
    found("initdb")
    ran = subprocess.run(
        [
            sys.executable, SOAK, "--seconds", str(seconds), "--replicas", "2", "--people", "10",
            "--lease", "0.5", "--every", "0.3", "--faults", faults, "--control", control,
            "--keep", tmp_path,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )  # fmt: skip
    return ran.returncode, ran.stdout


def test_replicas_that_fail_lose_nothing(tmp_path: Path) -> None:
    status, said = soaked(tmp_path, 10, "kill,pause,cut,restart")

    assert status == 0, said


@pytest.mark.parametrize(
    ("control", "faults", "signs"),
    [
        ("stale,hints", "", ("what a reply was made of", "are late by")),
        ("fence", "pause", ("what was heard to",)),
        ("ttl", "pause", ("words lost",)),
    ],
)
def test_a_fault_that_is_put_in_is_found(
    tmp_path: Path, control: str, faults: str, signs: tuple[str, ...]
) -> None:
    status, said = soaked(tmp_path, 8, faults, control)

    assert (status, [sign for sign in signs if sign not in said]) == (1, []), said
