"""Uploaded pictures: checked, and stored in a folder under names that cannot be guessed."""

from __future__ import annotations

import asyncio
import errno
import re
import tempfile
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.contracts.http import HttpResponse
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, NotFound, ProlocutorError, StoreError, StoreFull
from prolocutor.web.error_table import HttpError

KIND: Final = "upload"
"""The kind of the records that name a person's pictures."""

MAX_PICTURES: Final = 200
"""Pictures of one person; beyond that the oldest is removed."""

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, max-age=31536000, immutable",
}

_OWNER: Final = ".owner"
_NAME: Final = re.compile(r"[0-9a-f]{32}\.(png|jpg|gif|webp)")
_TYPES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


class Uploads:
    """Stores pictures, each until its person is deleted.

    `folder` is made when it is first needed; without one the pictures last as long as the channel.
    """

    def __init__(self, records: RecordStore, folder: Path | None = None) -> None:
        self._records = records
        self._folder = folder
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    async def sweep(self) -> None:
        """Remove the pictures of persons who were deleted."""
        for user, names in (await asyncio.to_thread(self._owned)).items():
            known = await self._records.records(user, KIND)
            for name in names - known.keys():
                await asyncio.to_thread(self._remove, name)

    def close(self) -> None:
        """Remove the pictures that were stored for this run alone."""
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    async def store(self, user: str, body: bytes) -> str:
        """Store a picture and return its name; raise `BadInput` for what is no picture."""
        name = f"{new_id()}.{_suffix(body)}"
        await asyncio.to_thread(self._write, name, user, body)
        await self._records.put_record(user, KIND, name, b"{}")
        for old in list(await self._records.records(user, KIND))[:-MAX_PICTURES]:
            await self._records.delete_record(user, KIND, old)
            await asyncio.to_thread(self._remove, old)
        return name

    async def show(self, name: str) -> HttpResponse:
        """Return a picture; raise `NotFound` if there is none, or its person was deleted."""
        found = await asyncio.to_thread(self._read, name) if _NAME.fullmatch(name) else None
        if found is None:
            raise _no_picture()
        user, body = found
        if name not in await self._records.records(user, KIND):
            await asyncio.to_thread(self._remove, name)
            raise _no_picture()
        return HttpResponse(body, content_type=_TYPES[name.rpartition(".")[2]], headers=HEADERS)

    # -- in a thread ------------------------------------------------------------------------

    def _write(self, name: str, user: str, body: bytes) -> None:
        try:
            folder = self._ensure_folder()
            (folder / f"{name}{_OWNER}").write_bytes(msgspec.json.encode(user))
            (folder / name).write_bytes(body)
        except OSError as error:
            what = f"the picture cannot be stored in {self._folder}: {error.strerror}"
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
        if self._folder is not None and self._folder.is_dir():
            for file in self._folder.glob(f"*{_OWNER}"):
                with suppress(OSError, msgspec.DecodeError):
                    owned.setdefault(_owner_of(file), set()).add(file.name.removesuffix(_OWNER))
        return owned

    def _ensure_folder(self) -> Path:
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return self._folder
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="prolocutor-")
        return Path(self._temporary.name)


def _owner_of(file: Path) -> str:
    return msgspec.json.decode(file.read_bytes(), type=str)


def _suffix(body: bytes) -> str:
    """Return the kind of a picture by its first bytes, whatever the headers say."""
    if not body:
        raise BadInput("the body should be a picture, and it is empty")
    if body.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if body.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if body.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if body.startswith(b"RIFF") and body[8:12] == b"WEBP":
        return "webp"
    raise HttpError(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "only pictures are taken: PNG, JPEG, GIF or WebP"
    )


def _no_picture() -> ProlocutorError:
    return NotFound("there is no picture of this name")
