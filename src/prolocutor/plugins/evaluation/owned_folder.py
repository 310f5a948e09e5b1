"""A folder that one process at a time writes to, files written as a whole, hashes of contents."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from prolocutor.errors import BadInput, StoreLocked

if sys.platform != "win32":
    import fcntl

_BLOCK_BYTES: Final = 1 << 20


@contextmanager
def own_folder(path: Path, *, option: str = "--out") -> Iterator[None]:
    """Make a folder and lock it against other processes for as long as the block runs.

    Raise `StoreLocked` where another process has it, and `BadInput` for what is not a folder.
    `option` is that of the command by which another folder can be chosen.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY)
    except (FileExistsError, NotADirectoryError):
        raise BadInput(f"{path}: this is not a folder; choose another one with {option}") from None
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


def content_hash(paths: Iterable[Path]) -> str | None:
    """Return one hash over files, and all files of folders; None if there are none.

    Neither names of folders nor times are part of it.
    """
    digest = blake2b(digest_size=16)
    block = bytearray(_BLOCK_BYTES)
    count = 0
    for file in _files(paths):
        count += 1
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode("utf-8", "replace"))
        with file.open("rb", buffering=0) as source:
            while size := source.readinto(block):
                digest.update(memoryview(block)[:size])
    return digest.hexdigest() if count else None


def module_file(dotted: str, folder: Path | None = None) -> Path | None:
    """Return the source of the module in `module:attribute`, in a folder or where Python looks.

    The folder alone is looked into where it is given.
    """
    module = dotted.partition(":")[0]
    if folder is not None:
        path = folder.joinpath(*module.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
        return None
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    file_of = getattr(sys.modules.get(module), "__file__", None) or (spec.origin if spec else None)
    return Path(file_of) if file_of and Path(file_of).is_file() else None


def _files(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(one for one in path.rglob("*") if one.is_file())
        elif path.is_file():
            found.append(path)
    return found
