"""Owner: the process that has a SQLite store to itself, and the way to its door."""

from __future__ import annotations

import http.client
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from prolocutor.cli.places import sqlite_file
from prolocutor.dialog import plain
from prolocutor.errors import BadInput, NotFound, ProlocutorError, StoreError, StoreLocked
from prolocutor.stores.sqlite.ownership import owner_of_file

PATIENCE: Final = 2.0
"""Seconds for an owner to open its door or to be done."""

ANSWER_TIME: Final = 120.0
_PAUSE: Final = 0.05
_KINDS: Final = {kind.code: kind for kind in (NotFound, BadInput)}


class Note(msgspec.Struct, frozen=True):
    """What an owner leaves for others: its command and, if it has a door, the door's address.

    `file`: the assistant's. `key`: what to show at the door, null where loopback needs none.
    """

    command: str
    file: str = ""
    url: str | None = None
    key: str | None = None

    def text(self) -> str:
        """Write the note as `note_owner` takes it."""
        return plain.encode(self).decode()


class OwnerDoor(msgspec.Struct, frozen=True):
    """The door of a store's owner, as `cli/owner_channel.py` opens it."""

    note: Note

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send one request and give the answer; what the owner refuses is raised here."""
        status, data = self._exchange(path, plain.encode(body))
        answer = plain.decode(data) if data else None
        if status < 400:
            return answer
        error = answer if isinstance(answer, dict) else {}
        kind = _KINDS.get(error.get("code", ""), ProlocutorError)
        raise kind(error.get("error") or f"{self.note.url} answered with status {status}")

    def _exchange(self, path: str, body: bytes) -> tuple[int, bytes]:
        address = urlsplit(self.note.url or "")
        headers = {"Content-Type": "application/json"}
        if self.note.key:
            headers["Authorization"] = f"Bearer {self.note.key}"
        line = http.client.HTTPConnection(
            address.hostname or "127.0.0.1", address.port, timeout=ANSWER_TIME
        )
        try:
            line.request("POST", path, body, headers)
            response = line.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            what = f"the owner of the store does not answer at {self.note.url}: {error}"
            raise StoreError(what) from None
        finally:
            line.close()


def door_of(url: str, file: Path | None = None, patience: float = PATIENCE) -> OwnerDoor | None:
    """Give the door of the store's owner; None if nobody owns it.

    `file`: the assistant that is wanted, if it matters which. `StoreLocked` where the owner has no
    door, or serves another assistant.
    """
    path = sqlite_file(url)
    if path is None:
        return None
    until = time.monotonic() + patience
    while (owner := owner_of_file(path)) is not None:
        note = _note(owner)
        if note.url is not None:
            _check_same_assistant(path, note, file, owner)
            return OwnerDoor(note)
        if time.monotonic() >= until:
            raise StoreLocked(
                f"{path}: {_who(owner, note)} has this store to itself; "
                "end it, or choose another store with --store"
            )
        time.sleep(_PAUSE)
    return None


def check_free(url: str) -> None:
    """Raise `StoreLocked` if somebody owns the store."""
    path = sqlite_file(url)
    owner = owner_of_file(path) if path else None
    if path is None or owner is None:
        return
    note = _note(owner)
    door = f" and serves it at {note.url}" if note.url else ""
    raise StoreLocked(
        f"{path}: {_who(owner, note)} has this store to itself{door}; "
        "end it, or choose another store with --store"
    )


def _note(owner: dict[str, Any]) -> Note:
    try:
        return msgspec.json.decode(str(owner.get("note", "")), type=Note)
    except msgspec.DecodeError:
        return Note("")


def _check_same_assistant(path: Path, note: Note, file: Path | None, owner: dict[str, Any]) -> None:
    if file is not None and note.file and note.file != str(file.absolute()):
        raise StoreLocked(
            f"{path}: {_who(owner, note)} has this store to itself and serves {note.file}; "
            "choose another store with --store"
        )


def _who(owner: dict[str, Any], note: Note) -> str:
    number = f"process {owner.get('pid', '?')}"
    return f"{number} (prolocutor {note.command})" if note.command else number
