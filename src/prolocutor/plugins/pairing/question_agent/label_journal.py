"""LabelJournal: an append-only file of router labels, one JSON line each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from prolocutor.errors import BadData
from prolocutor.plugins.pairing.model_files import Model
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel


class LabelJournal:
    """Stores labels in a file: `router.learn_all(journal.read())`, then `keep=journal.write`.

    A line is written in one system call before the router learns it: it survives this process.
    With `sync=True` it survives the machine too, which takes milliseconds.
    """

    def __init__(self, path: str | Path, *, sync: bool = False) -> None:
        self._path, self._sync = Path(path), sync
        self._file: int | None = None

    @property
    def file(self) -> Path | None:
        """Where it is, as an absolute path."""
        return self._path.absolute()

    def read(self) -> list[RouterLabel]:
        """Return all labels; a truncated last line is left out, `BadData` for other faults."""
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
        """Append a label."""
        if self._file is None:
            self._file = self._open()
        os.write(self._file, msgspec.json.encode(lesson) + b"\n")
        if self._sync:
            os.fsync(self._file)

    def forget(self, user: str) -> bool:
        """Remove the labels of a user; False if there are none."""
        return self.leave_out(lambda lesson: lesson.user == user)

    def leave_out(self, falls: Callable[[RouterLabel], bool]) -> bool:
        """Remove some labels; False if there are none."""
        lessons = self.read()
        kept = [lesson for lesson in lessons if not falls(lesson)]
        if len(kept) == len(lessons):
            return False
        self.rewrite(kept)
        return True

    def rewrite(self, lessons: Iterable[RouterLabel]) -> None:
        """Keep these labels alone."""
        self.close()
        fresh = self._path.with_name(f".{self._path.name}-fresh")
        fresh.write_bytes(b"".join(msgspec.json.encode(lesson) + b"\n" for lesson in lessons))
        fresh.chmod(0o600)
        fresh.replace(self._path)

    def close(self) -> None:
        """Close the file; the next label opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        """Open the file for appending; cut off a last line that a crash left incomplete."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            os.ftruncate(file, self._path.read_bytes().rfind(b"\n") + 1)
        return file


def since_model(labels: Iterable[RouterLabel], model: Model) -> Iterator[RouterLabel]:
    """Return the labels that a model has not learned."""
    learned = Counter(map(_content, lessons_of(model)))
    for label in labels:
        content = _content(label)
        if learned[content]:
            learned[content] -= 1
        else:
            yield label


def _content(label: RouterLabel) -> bytes:
    return msgspec.json.encode((label.text, label.agents, label.weight), order="deterministic")


def lessons_of(model: Model) -> list[RouterLabel]:
    """Return the labels that a router's model keeps; none of a model that keeps none."""
    try:
        return msgspec.convert(model.parts.get("lessons", []), list[RouterLabel])
    except msgspec.ValidationError:
        return []  # what reads the model says what is wrong with it


class LabelMemory:
    """A journal of router labels in memory, where something else stores what they were made of."""

    def __init__(self) -> None:
        self._lessons: list[RouterLabel] = []
        self.file: Path | None = None

    def read(self) -> list[RouterLabel]:
        """Return all labels."""
        return self._lessons[:]

    def write(self, lesson: RouterLabel) -> None:
        """Append a label."""
        self._lessons.append(lesson)

    def forget(self, user: str) -> bool:
        """Remove the labels of a user; False if there are none."""
        kept = [lesson for lesson in self._lessons if lesson.user != user]
        found, self._lessons = len(kept) < len(self._lessons), kept
        return found

    def rewrite(self, lessons: Iterable[RouterLabel]) -> None:
        """Keep these labels alone."""
        self._lessons = list(lessons)
