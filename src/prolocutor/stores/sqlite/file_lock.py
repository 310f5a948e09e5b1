"""FileLock: a lock on the store's file itself, whatever its name."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from pathlib import Path
from typing import Final

from prolocutor.errors import StoreError, StoreFull
from prolocutor.stores.sqlite.store_file import FileNumber, number_of

_OPEN_FILE_LOCK: Final[int | None] = getattr(fcntl, "F_OFD_SETLK", None)
_LOOK: Final[int | None] = getattr(fcntl, "F_OFD_GETLK", None)
_FORM: Final = "hhqqi4x"
_AT: Final = 1 << 45
"""The byte that is locked: SQLite locks some after the first GiB, and no file reaches this one."""

_BUSY: Final = (errno.EAGAIN, errno.EACCES)


class FileLock:
    """A lock of an open file (`F_OFD_SETLK`), which belongs to the file and not to its name.

    SQLite's own locks belong to the process and are lost when it closes any descriptor of the
    file. So a file that this process owns is not opened again, and its descriptor is closed last.
    Where a system has no such locks, every file counts as free.
    """

    _ours: Final[set[FileNumber]] = set()

    def __init__(self, descriptor: int, number: FileNumber) -> None:
        self._descriptor = descriptor
        self._number = number

    @classmethod
    def take(cls, path: Path) -> FileLock | None:
        """Lock the file, which is made if it is missing; return None if it is locked already."""
        if cls.is_ours(path):
            return None
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFull(f"{path}: the disk is full; free some space") from error
            what = "cannot be opened; is it there, and may it be read and written?"
            raise StoreError(f"{path}: {what} ({error.strerror})") from error
        found = os.fstat(descriptor)
        number = found.st_dev, found.st_ino
        if _OPEN_FILE_LOCK is not None:
            try:
                fcntl.fcntl(descriptor, _OPEN_FILE_LOCK, _request(fcntl.F_WRLCK))
            except OSError as error:
                if error.errno in _BUSY:
                    os.close(descriptor)
                    return None
        cls._ours.add(number)
        return cls(descriptor, number)

    @classmethod
    def is_ours(cls, path: str | os.PathLike[str]) -> bool:
        """Return whether this process has the lock of a file."""
        return bool(cls._ours) and number_of(path) in cls._ours

    @classmethod
    def is_taken(cls, path: str | os.PathLike[str]) -> bool:
        """Return whether another process has the lock of a file."""
        if _LOOK is None or cls.is_ours(path):
            return False
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            found = fcntl.fcntl(descriptor, _LOOK, _request(fcntl.F_WRLCK))
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return bool(struct.unpack(_FORM, found)[0] != fcntl.F_UNLCK)

    def release(self) -> None:
        """Unlock the file."""
        self._ours.discard(self._number)
        os.close(self._descriptor)


def _request(kind: int) -> bytes:
    return struct.pack(_FORM, kind, os.SEEK_SET, _AT, 1, 0)
