"""Uploaded pictures, PDF and texts: checked, and stored under names that cannot be guessed."""

from __future__ import annotations

import asyncio
import errno
import re
import tempfile
import threading
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final, Protocol

import msgspec

from prolocutor.contracts.http import HttpResponse
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, NotFound, ProlocutorError, StoreError, StoreFull
from prolocutor.web.error_table import HttpError

_OWNER: Final = ".owner"
_BUCKETS: Final = 64
_ID_DIGITS: Final = 32

_LIST: Final = "picture-owners"

KIND: Final = "upload"
"""The kind of the records that name a person's pictures."""

FOLDER: Final = "upload-folder"
"""The kind of the records that name the folders of pictures beside a store."""

MAX_PICTURES: Final = 200
"""Pictures of one person; beyond that the oldest is removed."""

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, max-age=31536000, immutable",
}

_NAME: Final = re.compile(r"[0-9a-f]{32}\.(png|jpg|gif|webp|pdf|txt|csv)")
_TYPES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "txt": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
}
_SAVED: Final = frozenset({"pdf", "txt", "csv"})
"""Kinds that a browser saves instead of showing them on this site."""

_TEXTS: Final = {"text/plain": "txt", "text/csv": "csv"}
"""The kinds of text by their content types: the first bytes of a text say nothing of its kind."""

TAKEN: Final = "pictures (PNG, JPEG, GIF, WebP), PDF and texts in UTF-8 (.txt, .csv) are taken"


class FolderPictures:
    """Pictures in a folder, which is made when it is first needed.

    Without a given folder they last as long as this object.
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
        return await asyncio.to_thread(self._list_owned)

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
            return _read_owner(folder / f"{name}{_OWNER}"), (folder / name).read_bytes()
        except (OSError, msgspec.DecodeError):
            return None

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            folder = self._ensure_folder()
            for file in (folder / name, folder / f"{name}{_OWNER}"):
                file.unlink(missing_ok=True)

    def _list_owned(self) -> dict[str, set[str]]:
        """Return the names of the pictures by user."""
        owned: dict[str, set[str]] = {}
        if self.folder is not None and self.folder.is_dir():
            for file in self.folder.glob(f"*{_OWNER}"):
                with suppress(OSError, msgspec.DecodeError):
                    owned.setdefault(_read_owner(file), set()).add(file.name.removesuffix(_OWNER))
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

    The owner of a name is in one of several lists in the assistant's own records.
    """

    folder: Final = None

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    async def write(self, name: str, user: str, body: bytes) -> None:
        """Write a picture."""
        await self._records.put_record(user, _picture_kind(name), name, body)
        await self._records.put_record("", _picture_list(name), name, msgspec.json.encode(user))

    async def read(self, name: str) -> tuple[str, bytes] | None:
        """Return the owner and the bytes of a picture."""
        owner = (await self._records.records("", _picture_list(name))).get(name)
        if owner is None:
            return None
        user = msgspec.json.decode(owner, type=str)
        body = (await self._records.records(user, _picture_kind(name))).get(name)
        if body is None:
            await self._records.delete_record("", _picture_list(name), name)
            return None
        return user, body

    async def remove(self, name: str, user: str) -> None:
        """Remove a picture."""
        await self._records.delete_record(user, _picture_kind(name), name)
        await self._records.delete_record("", _picture_list(name), name)

    async def owned(self) -> dict[str, set[str]]:
        """Return the names of the pictures by user."""
        owned: dict[str, set[str]] = {}
        for number in range(_BUCKETS):
            for name, owner in (await self._records.records("", f"{_LIST}-{number}")).items():
                owned.setdefault(msgspec.json.decode(owner, type=str), set()).add(name)
        return owned

    def close(self) -> None:
        """Do nothing: the pictures stay."""


def _picture_kind(name: str) -> str:
    """Return the kind of the record with the bytes: a kind of its own, to be read alone."""
    return f"picture-{name}"


def _picture_list(name: str) -> str:
    """Return the list of a name, by the last digits of its id, which are random."""
    return f"{_LIST}-{int(name[:_ID_DIGITS][-2:], 16) % _BUCKETS}"


def _read_owner(file: Path) -> str:
    return msgspec.json.decode(file.read_bytes(), type=str)


class Pictures(Protocol):
    """A place for pictures, by names that cannot be guessed, each with its owner."""

    async def write(self, name: str, user: str, body: bytes) -> None:
        """Write a picture."""

    async def read(self, name: str) -> tuple[str, bytes] | None:
        """Return the owner and the bytes of a picture; None for an unknown picture."""

    async def remove(self, name: str, user: str) -> None:
        """Remove a picture of a user, if it is there."""

    async def owned(self) -> dict[str, set[str]]:
        """Return the names of the pictures by user."""

    @property
    def folder(self) -> Path | None:
        """The folder that keeps the pictures from one run to the next."""

    def close(self) -> None:
        """Remove pictures that were written only for this run."""


class Uploads:
    """Stores pictures, each until its person is deleted."""

    def __init__(self, records: RecordStore, pictures: Pictures) -> None:
        self._records = records
        self._pictures = pictures

    async def forget(self, user: str) -> None:
        """Remove the pictures of a person who is going to be deleted."""
        for name in await self._records.records(user, KIND):
            await self._pictures.remove(name, user)

    async def sweep(self) -> None:
        """Remove the pictures of persons who were deleted while their folder was not there."""
        if (folder := self._pictures.folder) is not None:
            await self._records.put_record("", FOLDER, str(folder.resolve()), b"true")
        for user, names in (await self._pictures.owned()).items():
            known = await self._records.records(user, KIND)
            for name in names - known.keys():
                await self._pictures.remove(name, user)

    def close(self) -> None:
        """Remove the pictures that were stored for this run alone."""
        self._pictures.close()

    async def store(self, user: str, body: bytes, content_type: str = "") -> str:
        """Store a file and return its name; raise `BadInput` for other content.

        A picture or a PDF is known by its first bytes, a text by its `content_type`.
        """
        name = f"{new_id()}.{_suffix(body, content_type)}"
        await self._pictures.write(name, user, body)
        await self._records.put_record(user, KIND, name, b"{}")
        for old in list(await self._records.records(user, KIND))[:-MAX_PICTURES]:
            await self._records.delete_record(user, KIND, old)
            await self._pictures.remove(old, user)
        return name

    async def show(self, name: str) -> HttpResponse:
        """Return a picture; raise `NotFound` if there is none, or its person was deleted."""
        found = await self._pictures.read(name) if _NAME.fullmatch(name) else None
        if found is None:
            raise _no_picture()
        user, body = found
        if name not in await self._records.records(user, KIND):
            await self._pictures.remove(name, user)
            raise _no_picture()
        kind = name.rpartition(".")[2]
        headers = {**HEADERS, "Content-Disposition": "attachment"} if kind in _SAVED else HEADERS
        return HttpResponse(body, content_type=_TYPES[kind], headers=headers)


async def forget_person(store: RecordStore, user: str | None) -> None:
    """Remove the pictures of a person who is going to be deleted, while no door is open."""
    if user is None:
        return
    folders = await store.records("", FOLDER)
    places: list[Pictures] = [StorePictures(store), *(FolderPictures(Path(one)) for one in folders)]
    for pictures in places:
        await Uploads(store, pictures).forget(user)


def _suffix(body: bytes, content_type: str) -> str:
    """Return the kind of a file by its first bytes; of a text, by its content type."""
    if not body:
        raise BadInput("the file is empty")
    if body.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if body.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if body.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if body.startswith(b"%PDF-"):
        return "pdf"
    if body.startswith(b"RIFF") and body[8:12] == b"WEBP":
        return "webp"
    text = _TEXTS.get(content_type.partition(";")[0].strip().lower())
    if text is not None and _is_text(body):
        return text
    raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, TAKEN)


def _is_text(body: bytes) -> bool:
    try:
        return "\0" not in body.decode()
    except UnicodeDecodeError:
        return False


def _no_picture() -> ProlocutorError:
    return NotFound("there is no picture of this name")
