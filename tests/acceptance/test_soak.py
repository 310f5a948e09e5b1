"""The server is killed at any instant, and nothing is lost, said twice or out of order."""

import subprocess
import sys
from pathlib import Path

SOAK = Path(__file__).parents[2] / "bench" / "soak.py"


def test_a_dozen_kills_lose_nothing(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, SOAK, "--kills", "12", "--keep", tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout
