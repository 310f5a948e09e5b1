"""Builds an environment of its own, with pinned versions, for each neighbour of the benchmarks.

    python bench/peers/setup.py                  all of them
    python bench/peers/setup.py dp-agent         only one

Each lies under bench/.peers/<name>/ and is left alone while its list of versions stays the same.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parent / ".peers"
PEERS = sorted(path.stem for path in (HERE / "requirements").glob("*.txt"))


def main() -> int:
    """Builds what was asked for; 0 when all of it stands."""
    parser = argparse.ArgumentParser(description="Build the neighbours' environments.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--force", action="store_true", help="build again what stands already")
    options = parser.parse_args()
    if sys.version_info[:2] != (3, 11):
        print("setup.py: the versions are pinned for Python 3.11; others may fail", file=sys.stderr)
    unknown = sorted(set(options.names) - set(PEERS))
    if unknown:
        parser.error(f"unknown neighbour {', '.join(unknown)}; there are {', '.join(PEERS)}")
    failed = [name for name in options.names or PEERS if not build(name, force=options.force)]
    return 1 if failed else 0


def build(name: str, *, force: bool = False) -> bool:
    """Makes the environment of one neighbour; False, with a line of why, when pip fails."""
    folder = ENVIRONMENTS / name
    pins = HERE / "requirements" / f"{name}.txt"
    wanted = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    stamp = folder / "built"
    if not force and stamp.is_file() and stamp.read_text() == wanted:
        print(f"{name}: stands already")
        return True
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    # --no-deps: the lists are whole, and dp-agent's own pins no longer build on Python 3.11.
    pip = [python_of(name), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "--no-deps", "-r", pins], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{name}: pip failed\n{done.stderr}", file=sys.stderr)
        return False
    stamp.write_text(wanted)
    print(f"{name}: built")
    return True


def python_of(name: str) -> Path:
    """The interpreter of one neighbour's environment."""
    return ENVIRONMENTS / name / "bin" / "python"


if __name__ == "__main__":
    raise SystemExit(main())
