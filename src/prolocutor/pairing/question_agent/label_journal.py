"""A journal of lessons: a file with one label a line, appended as they come."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from prolocutor.errors import BadData
from prolocutor.pairing.question_agent.knn import RouterLabel


class LabelJournal:
    """Keeps lessons in a file: `router.learn_all(journal.read())`, then `keep=journal.write`.

    A line is handed to the system whole, before the lesson counts: it survives this process. With
    `sync=True` it is on the disk too, which takes milliseconds.
    """

    def __init__(self, path: str | Path, *, sync: bool = False) -> None:
        self._path, self._sync = Path(path), sync
        self._file: int | None = None

    def read(self) -> list[RouterLabel]:
        """Return all lessons; a last line that was cut off is left out, `BadData` for others."""
        lessons: list[RouterLabel] = []
        if not self._path.is_file():
            return lessons
        *lines, _ = self._path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                lessons.append(msgspec.json.decode(line, type=RouterLabel))
            except msgspec.MsgspecError as error:
                raise BadData(str(error), file=str(self._path), line=number) from None
        return lessons

    def write(self, lesson: RouterLabel) -> None:
        """Append a lesson."""
        if self._file is None:
            self._file = self._open()
        os.write(self._file, msgspec.json.encode(lesson) + b"\n")
        if self._sync:
            os.fsync(self._file)

    def forget(self, user: str) -> bool:
        """Take out what this person said; False if there is nothing of theirs."""
        lessons = self.read()
        kept = [lesson for lesson in lessons if lesson.user != user]
        if len(kept) == len(lessons):
            return False
        self.close()
        fresh = self._path.with_name(f".{self._path.name}-fresh")
        fresh.write_bytes(b"".join(msgspec.json.encode(lesson) + b"\n" for lesson in kept))
        fresh.chmod(0o600)
        fresh.replace(self._path)
        return True

    def close(self) -> None:
        """Close the file; the next lesson opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        """Open the file for appending, without what a crash left of its last line."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            os.ftruncate(file, self._path.read_bytes().rfind(b"\n") + 1)
        return file
