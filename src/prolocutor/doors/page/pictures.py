"""Where uploaded pictures are: in a folder of one process, or in the store that replicas share."""

from __future__ import annotations

import asyncio
import errno
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.contracts.store import RecordStore
from prolocutor.errors import StoreError, StoreFull

_OWNER: Final = ".owner"
_BUCKETS: Final = 64
_ID_DIGITS: Final = 32


class FolderPictures:
    """Pictures in a folder, made when it is first needed.

    Without a folder they last as long as this object.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._making = threading.Lock()

    async def write(self, name: str, user: str, body: bytes) -> None:
        """Write a picture."""
        await asyncio.to_thread(self._write, name, user, body)

    async def read(self, name: str) -> tuple[str, bytes] | None:
        """Return the owner and the bytes of a picture."""
        return await asyncio.to_thread(self._read, name)

    async def remove(self, name: str, user: str) -> None:
        """Remove a picture."""
        del user
        await asyncio.to_thread(self._remove, name)

    async def owned(self) -> dict[str, set[str]]:
        """Return the names of the pictures by user."""
        return await asyncio.to_thread(self._owned)

    def close(self) -> None:
        """Remove the pictures that were stored for this run alone."""
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    # -- in a thread ------------------------------------------------------------------------

    def _write(self, name: str, user: str, body: bytes) -> None:
        try:
            folder = self._ensure_folder()
            (folder / f"{name}{_OWNER}").write_bytes(msgspec.json.encode(user))
            (folder / name).write_bytes(body)
        except OSError as error:
            what = f"the picture cannot be stored in {self.folder}: {error.strerror}"
            raise (StoreFull if error.errno == errno.ENOSPC else StoreError)(what) from error

    def _read(self, name: str) -> tuple[str, bytes] | None:
        try:
            folder = self._ensure_folder()
            return _owner_of(folder / f"{name}{_OWNER}"), (folder / name).read_bytes()
        except (OSError, msgspec.DecodeError):
            return None

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            folder = self._ensure_folder()
            for file in (folder / name, folder / f"{name}{_OWNER}"):
                file.unlink(missing_ok=True)

    def _owned(self) -> dict[str, set[str]]:
        """Return the names of the pictures by user."""
        owned: dict[str, set[str]] = {}
        if self.folder is not None and self.folder.is_dir():
            for file in self.folder.glob(f"*{_OWNER}"):
                with suppress(OSError, msgspec.DecodeError):
                    owned.setdefault(_owner_of(file), set()).add(file.name.removesuffix(_OWNER))
        return owned

    def _ensure_folder(self) -> Path:
        if self.folder is not None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return self.folder
        with self._making:  # of two folders made at once, the first would go with its object
            if self._temporary is None:
                self._temporary = tempfile.TemporaryDirectory(prefix="prolocutor-")
            return Path(self._temporary.name)


class StorePictures:
    """Pictures as records of their persons, for all replicas of a store.

    The owner of a name stands in one of some lists of the assistant's own records.
    """

    folder: Final = None

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    async def write(self, name: str, user: str, body: bytes) -> None:
        """Write a picture."""
        await self._records.put_record(user, _kind_of(name), name, body)
        await self._records.put_record("", _list_of(name), name, msgspec.json.encode(user))

    async def read(self, name: str) -> tuple[str, bytes] | None:
        """Return the owner and the bytes of a picture."""
        owner = (await self._records.records("", _list_of(name))).get(name)
        if owner is None:
            return None
        user = msgspec.json.decode(owner, type=str)
        body = (await self._records.records(user, _kind_of(name))).get(name)
        if body is None:
            await self._records.delete_record("", _list_of(name), name)
            return None
        return user, body

    async def remove(self, name: str, user: str) -> None:
        """Remove a picture."""
        await self._records.delete_record(user, _kind_of(name), name)
        await self._records.delete_record("", _list_of(name), name)

    async def owned(self) -> dict[str, set[str]]:
        """Return the names of the pictures by user."""
        owned: dict[str, set[str]] = {}
        for number in range(_BUCKETS):
            for name, owner in (await self._records.records("", f"{_LIST}-{number}")).items():
                owned.setdefault(msgspec.json.decode(owner, type=str), set()).add(name)
        return owned

    def close(self) -> None:
        """Do nothing: the pictures stay."""


_LIST: Final = "picture-owners"


def _kind_of(name: str) -> str:
    """Return the kind of the record with the bytes: of its own, so that it is read alone."""
    return f"picture-{name}"


def _list_of(name: str) -> str:
    """Return the list in which a name is, by the last digits of its id, which are random."""
    return f"{_LIST}-{int(name[:_ID_DIGITS][-2:], 16) % _BUCKETS}"


def _owner_of(file: Path) -> str:
    return msgspec.json.decode(file.read_bytes(), type=str)
