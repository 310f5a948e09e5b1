"""Lines of a text file with their numbers, and the handling of their faults."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from prolocutor.data_sets import OnFault, refuse
from prolocutor.errors import BadData, NotFound

T = TypeVar("T")

BOM: Final = "\ufeff"


class LineReader:
    """A UTF-8 file, line by line; only a line feed ends a line.

    `plain` leaves byte order marks and carriage returns where they are.
    """

    def __init__(
        self, file: str | Path, on_fault: OnFault = refuse, *, plain: bool = False
    ) -> None:
        self.file = Path(file)
        self._on_fault = on_fault
        self._plain = plain
        self.id: Final = os.path.join(*self.file.absolute().parts[-2:])
        """The file with its folder, as ParlAI names a task of a file."""
        self.number = 0
        """The number of the line that was read last."""
        self._size = 0
        self._read = 0

    @property
    def portion(self) -> float | None:
        """The read part of the file in the latest pass, 0 to 1."""
        return self._read / self._size if self._size else None

    def __iter__(self) -> Iterator[tuple[int, str]]:
        if not self.file.is_file():
            raise NotFound(f"{self.file}: there is no such file", field="data")
        self._size, self._read = self.file.stat().st_size, 0
        with self.file.open("rb") as file:
            for number, raw in enumerate(file, 1):
                self._read += len(raw)
                self.number = number
                try:
                    line = raw.decode()
                except UnicodeDecodeError as error:
                    fault = BadData(f"not UTF-8 at byte {error.start + 1} of the line")
                    self._on_fault(fault.at(str(self.file), number))
                    continue
                if not self._plain:
                    line = line.removesuffix("\n").removesuffix("\r")
                    if number == 1:
                        line = line.removeprefix(BOM)
                yield number, line.removesuffix("\n")


class LineSource:
    """The base of data sets in one text file: name, progress, and the places of faults."""

    def __init__(
        self, file: str | Path, on_fault: OnFault = refuse, *, plain: bool = False
    ) -> None:
        self._lines = LineReader(file, on_fault, plain=plain)
        self._on_fault = on_fault

    @property
    def id(self) -> str:
        """The file with its folder."""
        return self._lines.id

    @property
    def portion(self) -> float | None:
        """The read part of the file in the latest pass, 0 to 1."""
        return self._lines.portion

    @property
    def place(self) -> tuple[str, int]:
        """The file, and the line at which the latest episode ends."""
        return str(self._lines.file), self._lines.number

    def _parse_lines(self, parse: Callable[[str], T | None]) -> Iterator[T]:
        """Parse line by line: leave out None, and report faults with file and line."""
        for number, line in self._lines:
            try:
                parsed = parse(line)
            except BadData as fault:
                self._on_fault(fault.at(str(self._lines.file), number))
                continue
            if parsed is not None:
                yield parsed
