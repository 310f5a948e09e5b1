"""A folder that one process at a time writes to, and files that are written as a whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from prolocutor.errors import BadInput, StoreLocked

if sys.platform != "win32":
    import fcntl


@contextmanager
def owned(path: Path, *, option: str = "--out") -> Iterator[None]:
    """Make a folder and lock it against other processes for as long as the block runs.

    Raise `StoreLocked` where another process has it, and `BadInput` for what is no folder.
    `option` is that of the command by which another folder can be chosen.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY)
    except (FileExistsError, NotADirectoryError):
        raise BadInput(f"{path}: this is no folder; choose another one with {option}") from None
    try:
        if sys.platform != "win32":
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StoreLocked(f"{path}: another process is at work on this run") from None
        yield
    finally:
        os.close(descriptor)


def check_new(path: Path, *, option: str = "--out") -> None:
    """Raise `BadInput` if a folder holds anything but what an interrupted `write_json` left."""
    if any(not one.name.endswith(".new") for one in path.iterdir()):
        raise BadInput(f"{path}: this folder holds other things; choose another one with {option}")


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """Open a file to be written anew; a reader finds the old content or the new, never a part."""
    new = file.with_name(f"{file.name}.new")
    with new.open("wb") as out:
        yield out
        out.flush()
        os.fsync(out.fileno())
    new.replace(file)


def write_json(file: Path, value: Any) -> None:
    """Write a file of JSON as a whole."""
    with replacing(file) as out:
        out.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def whole_lines(file: Path, *, cut: bool = False) -> Iterator[tuple[int, int, bytes]]:
    """Return each line with its number and where it begins; without a torn last one.

    A line is torn where a process ended while it was written; `cut` removes it from the file.
    """
    if not file.exists():
        return
    start = 0
    with file.open("rb+" if cut else "rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                if cut:
                    os.ftruncate(lines.fileno(), start)
                return
            yield number, start, line
            start += len(line)
