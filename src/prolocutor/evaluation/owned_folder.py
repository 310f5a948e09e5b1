"""A folder that one process at a time writes to, and files that are written as a whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


def write_json(file: Path, value: Any) -> None:
    """Write a file of JSON; a reader finds the old content or the new, never a part."""
    new = file.with_name(f"{file.name}.new")
    new.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    new.replace(file)
