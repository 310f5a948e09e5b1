"""TextWriter: a file written whole or not at all, and the check that no field is lost in it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from prolocutor.errors import BadData

ABSENT = object()


class TextWriter:
    """A text file, written as a whole or not at all.

    Use it in a `with` block; the file gets its name at the end of the block, unless an exception
    was raised.
    """

    def __init__(self, file: str | Path | TextIO) -> None:
        self._given = file
        self._out: TextIO | None = None if isinstance(file, str | Path) else file

    def __enter__(self) -> Self:
        if isinstance(self._given, str | Path):
            self._part.parent.mkdir(parents=True, exist_ok=True)
            self._out = self._part.open("w", encoding="utf-8", newline="\n")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._out is None or not isinstance(self._given, str | Path):
            return
        try:
            if error is None:
                self.finish()
        finally:
            self._out.close()
            if error is not None:
                with suppress(OSError):
                    self._part.unlink()
        if error is None:
            os.replace(self._part, self._given)

    def put(self, text: str) -> None:
        """Write text."""
        if self._out is None:
            raise RuntimeError("a writer writes in a with block")
        try:
            self._out.write(text)
        except UnicodeEncodeError as error:
            raise BadData(f"a lone surrogate cannot be written: {error}") from None

    def finish(self) -> None:
        """Write the end of the file."""

    @property
    def _part(self) -> Path:
        path = Path(str(self._given))
        return path.with_name(f".{path.name}.part")


def check_lossless(given: Mapping[str, Any], again: Mapping[str, Any], form: str) -> None:
    """Compare a message with its form read back; `BadData` names a lost field.

    Tuples count as lists, a missing `episode_done` as false and a missing reward as 0.
    """
    for key in given.keys() | again.keys():
        before, after = given.get(key, ABSENT), again.get(key, ABSENT)
        if before is ABSENT and key in ("reward", "episode_done"):
            before = type(after)(0) if isinstance(after, int | float) else ABSENT
        if after is ABSENT and key in ("reward", "episode_done"):
            after = type(before)(0) if isinstance(before, int | float) else ABSENT
        if not _same(before, after):
            raise BadData(f"would be lost in {form}: {_told(before, after)}", field=key)


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        return len(before) == len(after) and all(map(_same, before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_same(before[k], after[k]) for k in before)
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if isinstance(before, float) and isinstance(after, float) and math.isnan(before):
        return math.isnan(after)
    numbers = isinstance(before, int | float) and isinstance(after, int | float)
    return (numbers or type(before) is type(after)) and bool(before == after)


def _told(before: Any, after: Any) -> str:
    if after is ABSENT:
        return "there is no place for it"
    return f"{_short(before)} would become {_short(after)}"


def _short(value: Any) -> str:
    text = "nothing" if value is ABSENT else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
