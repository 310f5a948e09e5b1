"""What has to be known of the machine to read the figures."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("uvloop", "msgspec", "aiohttp", "uvicorn", "httptools")


def facts() -> dict[str, str]:
    """Date, machine and versions, in words."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{os.cpu_count()} cores ({processor()}), {platform.system()}",
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "Prolocutor": f"{version('prolocutor')} with {libraries}, SQLite {sqlite3.sqlite_version}",
    }


def processor() -> str:
    """The processor's name where Linux tells it, else its kind."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def load_average() -> str:
    """How busy the machine is."""
    return " ".join(f"{one:.1f}" for one in os.getloadavg())


def fsync_ms(folder: Path) -> float:
    """The median of what the disk takes to keep one page."""
    times = []
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            started = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000
