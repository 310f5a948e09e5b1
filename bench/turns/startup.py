"""What it takes to start: `import prolocutor` and `prolocutor --help`, wall seconds."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

IMPORT = "import time; t = time.perf_counter(); import prolocutor; print(time.perf_counter() - t)"
IMPORT_ALL = IMPORT.replace("; print", "; prolocutor.Assistant; print")


def import_seconds() -> float:
    """Seconds within a new interpreter that the import takes."""
    return _printed(IMPORT)


def import_all_seconds() -> float:
    """The same until the assistant is at hand, which brings most of the rest."""
    return _printed(IMPORT_ALL)


def help_seconds() -> float:
    """Seconds from the start of the command to its end."""
    program = Path(sys.executable).with_name("prolocutor")
    started = time.perf_counter()
    subprocess.run([program, "--help"], capture_output=True, check=True)
    return time.perf_counter() - started


def _printed(code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)
