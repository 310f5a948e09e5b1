"""The server is killed at any instant, and nothing is lost, said twice or out of order."""

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "bench" / "soak.py"


@pytest.mark.parametrize("kills", [4, pytest.param(12, marks=pytest.mark.long)])
def test_kills_lose_nothing(kills: int, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, SOAK, "--kills", str(kills), "--keep", tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout
