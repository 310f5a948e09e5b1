"""Content hashes: they notice a changed file whatever its name and time."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_BLOCK: Final = 1 << 20


def content_of(paths: Iterable[Path]) -> str | None:
    """Return one hash over files, and all files of folders; None if there are none.

    Neither names of folders nor times are part of it.
    """
    digest = blake2b(digest_size=16)
    block = bytearray(_BLOCK)
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
