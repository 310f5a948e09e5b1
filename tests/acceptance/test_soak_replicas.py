"""Replicas fail in every way under load and nothing is lost; the soak finds what would be wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgresql_server import found

pytest.importorskip("asyncpg")

SOAK = Path(__file__).parents[2] / "bench" / "soak_replicas.py"
pytestmark = pytest.mark.slow

SOAKS = {
    "": ("kill,pause,cut,restart", []),
    "stale,hints": ("", ["what a reply was made of", "are late by"]),
    "fence": ("pause", ["what was heard to"]),
    "ttl": ("pause", ["words lost"]),
}
"""What fails, and what the soak has to find, by the faults that are put in."""


def soak(folder: Path, control: str, faults: str) -> "subprocess.Popen[str]":
    folder.mkdir()
    return subprocess.Popen(
        [
            sys.executable, SOAK, "--seconds", "4", "--replicas", "2", "--people", "8",
            "--lease", "0.5", "--every", "0.3", "--faults", faults, "--control", control,
            "--keep", folder,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip


def test_replicas_that_fail_lose_nothing_and_faults_that_are_put_in_are_found(
    tmp_path: Path,
) -> None:
    found("initdb")
    # They mostly wait, for leases and pauses: all at once they take hardly longer than one.
    running = {
        control: soak(tmp_path / f"soak {number}", control, faults)
        for number, (control, (faults, _)) in enumerate(SOAKS.items())
    }
    said = {control: one.communicate()[0] for control, one in running.items()}

    for control, (_, signs) in SOAKS.items():
        text = said[control]
        assert [sign for sign in signs if sign not in text] == [], f"control {control!r}: {text}"
        assert running[control].returncode == bool(signs), f"control {control!r}: {text}"
