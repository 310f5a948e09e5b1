"""One owner: locks on the file and on `<file>.lock`, which also names the owner."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.dialog import plain
from prolocutor.errors import StoreError, StoreFull, StoreLocked
from prolocutor.stores.sqlite.connection import FileNumber, file_number

_OPEN_FILE_LOCK: Final[int | None] = getattr(fcntl, "F_OFD_SETLK", None)
_LOOK: Final[int | None] = getattr(fcntl, "F_OFD_GETLK", None)
_FORM: Final = "hhqqi4x"
_AT: Final = 1 << 45
"""The locked byte: SQLite locks bytes after the first GiB, and no file is as long as this."""

_BUSY: Final = (errno.EAGAIN, errno.EACCES)

_LOCK_TRIES: Final = 10
_LOCK_PAUSE: Final = 0.02
"""Seconds between two tries to lock."""


class FileLock:
    """A lock of an open file (`F_OFD_SETLK`), which belongs to the file and not to its name.

    SQLite's own locks belong to the process and are lost when it closes any descriptor of the file.
    So an owned file is not opened again, and its descriptor is closed last. On a system without
    these locks every file counts as free.
    """

    _ours: Final[set[FileNumber]] = set()

    def __init__(self, descriptor: int, number: FileNumber) -> None:
        self._descriptor = descriptor
        self._number = number

    @classmethod
    def take(cls, path: Path) -> FileLock | None:
        """Lock the file, made if it is missing; return None if it is locked already."""
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
        return bool(cls._ours) and file_number(path) in cls._ours

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


class LockHolder(msgspec.Struct, frozen=True):
    """The owning process of a store, and its text (`note`); 0 if not known yet."""

    pid: int = 0
    note: str = ""


class Ownership:
    """The right to write to a store, held until `release` or until the process ends.

    It has two locks: on `<file>.lock` beside the real file, with the holder's note for others, and
    on the file itself, which holds for any name of the file (a symbolic or a hard link) and any
    fate of the lock file. Both belong to open files: started programs do not inherit them, and they
    go away with the process however it ends. The lock file itself stays.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._file_lock: FileLock | None = None

    def take(self) -> None:
        """Become the owner; raise `StoreLocked` with the id of the owner's process.

        The folder and the file are made if they are missing.
        """
        lock_file = _lock_file(self._path)
        try:
            lock_file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(lock_file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unwritable(lock_file, error) from error
        if not _lock(descriptor):
            owner = _read(descriptor)
            os.close(descriptor)
            raise StoreLocked(
                f"{self._path}: process {owner.pid or '?'} owns this store; "
                "stop it, talk to it through its door, or open the file read-only"
            )
        try:
            self._file_lock = FileLock.take(self._path)
            if self._file_lock is None:
                raise StoreLocked(
                    f"{self._path}: another process owns this store under another name, or its "
                    "lock file was removed; stop it, or open the file read-only"
                )
            self._descriptor = descriptor
            self.note("")
        except BaseException:
            self._descriptor = None
            os.close(descriptor)
            if self._file_lock is not None:
                self._file_lock.release()
            raise

    def note(self, text: str) -> None:
        """Leave a text for other processes in need of the store, such as a door's URL."""
        if self._descriptor is None:
            return
        data = plain.encode(LockHolder(os.getpid(), text))
        try:
            os.pwrite(self._descriptor, data, 0)
            os.ftruncate(self._descriptor, len(data))
        except OSError as error:
            raise _unwritable(_lock_file(self._path), error) from error

    def release(self) -> None:
        """End the ownership."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
        if self._file_lock is not None:
            self._file_lock.release()
            self._file_lock = None


def owner_of_file(path: str | os.PathLike[str]) -> LockHolder | None:
    """Return the process of this store's present owner, None without an owner."""
    if FileLock.is_ours(path):
        held = LockHolder(os.getpid())
    elif FileLock.is_taken(path):
        held = LockHolder()
    else:
        held = None
    try:
        descriptor = os.open(_lock_file(Path(path)), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return held
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor)
    else:
        return held
    finally:
        os.close(descriptor)


def _unwritable(file: Path, error: OSError) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(f"{file}: the disk is full; free some space and start again")
    return StoreError(f"{file}: {error.strerror}; may it be written there?")


def _lock(descriptor: int) -> bool:
    """Lock, with some tries: a process asking for the owner holds the lock for microseconds."""
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE)
        else:
            return True
    return False


def _read(descriptor: int) -> LockHolder:
    """Read the lock file; its owner may be writing it just now."""
    try:
        return msgspec.json.decode(os.pread(descriptor, 65_536, 0), type=LockHolder)
    except msgspec.DecodeError:
        return LockHolder()


def _lock_file(path: Path) -> Path:
    real = Path(os.path.realpath(path))
    return real.with_name(real.name + ".lock")
