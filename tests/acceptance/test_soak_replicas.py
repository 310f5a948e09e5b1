"""Replicas fail in every way under load and nothing is lost; the soak finds what would be wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgresql_server import found

pytest.importorskip("asyncpg")

SOAK = Path(__file__).parents[2] / "bench" / "soak_replicas.py"
# `test_scaled.py` kills replicas under load at each run; this one also tests what looks for losses.
pytestmark = [pytest.mark.slow, pytest.mark.long]

SOAKS = {
    "": ("kill,pause,cut,restart", []),
    "stale,hints": ("", ["what a reply was made of", "are late by"]),
    "fence": ("pause", ["what was heard to"]),
    "ttl": ("pause", ["words lost"]),
}
"""What fails, and what the soak has to find, by the faults that are put in."""
SECONDS = (4, 8, 16, 32)
"""How long each try to find them takes: a busy machine has fewer turns to go wrong in."""


def soak(folder: Path, control: str, seconds: int) -> "subprocess.Popen[str]":
    folder.mkdir()
    faults, _ = SOAKS[control]
    return subprocess.Popen(
        [
            sys.executable, SOAK, "--seconds", str(seconds), "--replicas", "2", "--people", "8",
            "--lease", "0.5", "--every", "0.3", "--faults", faults, "--control", control,
            "--keep", folder,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip


def finds(control: str, text: str) -> bool:
    _, signs = SOAKS[control]
    return all(sign in text for sign in signs)


def test_replicas_that_fail_lose_nothing_and_faults_that_are_put_in_are_found(
    tmp_path: Path,
) -> None:
    found("initdb")
    to_find = list(SOAKS)
    for seconds in SECONDS:
        # They mostly wait, for leases and pauses: all at once they take hardly longer than one.
        running = {
            control: soak(tmp_path / f"soak {seconds} {number}", control, seconds)
            for number, control in enumerate(to_find)
        }
        said = {control: one.communicate()[0] for control, one in running.items()}
        to_find = [control for control, text in said.items() if not finds(control, text)]
        for control, one in running.items():
            complains = bool(SOAKS[control][1])
            if control not in to_find:
                assert one.returncode == complains, f"control {control!r}: {said[control]}"
        if not to_find:
            return
    pytest.fail("\n".join(f"control {control!r}: {said[control]}" for control in to_find))
