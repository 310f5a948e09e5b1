"""ShelvedRows: the rows of a finished or running run, found by kind and by example."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from sys import intern
from typing import Final

import msgspec

from prolocutor.contracts.run_reading import RowKind
from prolocutor.errors import BadInput, StoreError
from prolocutor.plugins.evaluation.example_rows import ExampleRow, decode
from prolocutor.plugins.evaluation.row_index import lines_in_order
from prolocutor.plugins.evaluation.run_comparison import HALF

MAX_BYTES: Final = 512_000_000
"""The largest file of rows that is read."""

ACCURACY: Final = "accuracy"

ExampleKey = tuple[str, int, int]
"""A hash of the example, the number of earlier repeats, and its place among equal examples."""


class _ScoredRow(msgspec.Struct):
    """The fields needed of every row."""

    example: str
    group: str = ""
    repeat: int = 0
    scores: dict[str, float | None] = {}
    error: str | None = None


class ShelvedRows:
    """The rows of a file, in order. `metric` decides whether a row is right.

    Raise `BadInput` for a file that is damaged or too large.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.metric = ""
        self._starts = array("q")
        self._kinds = bytearray()
        self.keys: list[ExampleKey] = []
        self.groups: list[str] = []
        if file.exists():
            _check_size(file)
            try:
                self._read()
            except (StoreError, msgspec.MsgspecError, OSError) as error:
                raise BadInput(f"the rows cannot be read: {error}", field="name") from None

    def __len__(self) -> int:
        return len(self._starts)

    def kind(self, place: int) -> RowKind | None:
        """Return the kind of a row, None for one without labels, which nothing is measured by."""
        number = self._kinds[place]
        return _KINDS[number] if number < _NO_KIND else None

    def counts(self) -> dict[str, int]:
        """Count the rows by kind."""
        return {kind: self._kinds.count(number) for number, kind in enumerate(_KINDS)}

    def row(self, place: int) -> ExampleRow:
        """Read a row."""
        try:
            with self._file.open("rb") as lines:
                lines.seek(self._starts[place])
                return decode(lines.readline())
        except (OSError, msgspec.MsgspecError) as error:
            raise BadInput(f"the rows cannot be read: {error}", field="name") from None

    def _read(self) -> None:
        seen: Counter[tuple[str, int]] = Counter()
        for start, row in self._read_scored():
            if not self.metric and row.scores:
                self.metric = ACCURACY if ACCURACY in row.scores else next(iter(row.scores))
            score = row.scores.get(self.metric)
            right = score is not None and score >= HALF
            number = 2 if row.error is not None else 0 if right else 1 if row.scores else _NO_KIND
            key = row.example, row.repeat
            self.keys.append((*key, seen[key]))
            seen[key] += 1
            self.groups.append(intern(row.group))
            self._starts.append(start)
            self._kinds.append(number)

    def _read_scored(self) -> Iterator[tuple[int, _ScoredRow]]:
        decoder = msgspec.json.Decoder(_ScoredRow)
        for start, line in lines_in_order(self._file):
            yield start, decoder.decode(line)


_KINDS: Final[tuple[RowKind, ...]] = ("won", "lost", "failed")
_NO_KIND: Final = len(_KINDS)


def _check_size(file: Path) -> None:
    size = file.stat().st_size
    if size > MAX_BYTES:
        what = f"the rows are {size / 1e6:,.0f} MB, more than the {MAX_BYTES / 1e6:,.0f} MB"
        raise BadInput(f"{what} that are shown here; see prolocutor evaluate report", field="name")
