"""StoreFile: the very file that a store has open, by its number in the file system."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic
from typing import Final

from prolocutor.errors import StoreError

LOOK_EVERY: Final = 0.02
"""Seconds for which a file that was there is taken to be there: a look costs a tenth of a turn.
What was confirmed just before the file was removed is lost as well."""

FileNumber = tuple[int, int]
"""A device and the number of a file on it: the same for all names of one file."""


class StoreFile:
    """Notices that the store's file or its write-ahead log was removed or replaced.

    What is written then is lost when the process ends, so nothing may be confirmed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = f"{os.path.realpath(path)}-wal"
        self._number: FileNumber | None = None
        self._log_number: FileNumber | None = None
        self._look_at = 0.0

    def remember(self) -> None:
        """Remember which file was opened."""
        self._number, self._log_number = number_of(self._path), None

    def log_size(self) -> int:
        """Return the bytes of the write-ahead log."""
        return os.stat(self._log).st_size

    def check(self) -> None:
        """Raise `StoreError` unless the path still leads to the file that was opened."""
        now = monotonic()
        if now < self._look_at:
            return
        found = number_of(self._path)
        if found != self._number:
            what = "was removed" if found is None else "was replaced by another file"
            raise StoreError(
                f"{self._path}: {what} while it was in use; put the old one back, or start again"
            )
        found = number_of(self._log)
        if self._log_number is None:
            self._log_number = found
        elif found != self._log_number:
            raise StoreError(
                f"{self._log}: was removed or replaced while it was in use; put it back, or stop"
                " and check the store (prolocutor store check)"
            )
        self._look_at = now + LOOK_EVERY


def number_of(path: str | os.PathLike[str]) -> FileNumber | None:
    """Return the number of the file at a path; None where there is none."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
