"""PageGaps: overwrites what SQLite leaves in unused parts of the pages of a file."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from struct import unpack_from
from typing import Final

PIECE: Final = 4 << 20
"""Bytes that are looked through at once."""
_AT_ONCE: Final = 1 << 20
_MOST_PAGES: Final = 1 << 24
"""In a file with more pages a page that continues a long row could be taken for one of a table."""
_HEADERS: Final = {2: 12, 5: 12, 10: 8, 13: 8}
"""Bytes of the header of a page of a table or an index, by its kind."""


class PageGaps:
    """Looks through a file, piece by piece.

    `secure_delete` overwrites a row where it stands. But where SQLite moves rows to fill pages
    evenly, their bytes stay behind, in the gap between the pointers and the rows of a page (see
    "B-tree Pages" in SQLite's description of its file format). SQLite reads nothing there, and no
    statement overwrites it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._log = f"{os.path.realpath(path)}-wal"
        self._connection = connection
        self._file = -1
        self._at = 0

    def close(self) -> None:
        """Close the file, after the connection."""
        if self._file >= 0:
            os.close(self._file)

    def begin(self) -> None:
        """Begin again with the first page."""
        if self._file < 0:
            # To close a file ends all locks that this process has on it, those of SQLite too: it
            # stays open for as long as the connection.
            self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        self._at = 0

    def overwrite(self) -> bool:
        """Overwrite the gaps of the next pages; return whether there are more.

        Nothing may stand in the write-ahead log: what is there comes over the file later. While
        this connection may write, nobody else brings anything there.
        """
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            if os.stat(self._log).st_size:
                return True
            more = self._overwrite()
        finally:
            self._connection.execute("ROLLBACK")
        self._connection.execute("PRAGMA shrink_memory")  # pages in its cache have the bytes too
        return more

    def _overwrite(self) -> bool:
        header = os.pread(self._file, 100, 0)
        (size,) = unpack_from(">H", header, 16)
        size = 65_536 if size == 1 else size
        moves_pages = any(header[52:56])
        end = os.fstat(self._file).st_size
        if moves_pages or end // size > _MOST_PAGES:
            return False
        until = min(self._at + PIECE, end)
        while self._at < until:
            pages = memoryview(os.pread(self._file, _AT_ONCE, self._at))
            for start in range(0, len(pages) - size + 1, size):
                self._overwrite_page(pages[start : start + size], self._at + start, header[20])
            self._at += len(pages) or end
        if self._at >= end:
            os.fsync(self._file)
        return self._at < end

    def _overwrite_page(self, page: memoryview, at: int, reserved: int) -> None:
        head = 100 if at == 0 else 0
        length = _HEADERS.get(page[head])
        if length is None:
            return
        cells, content = unpack_from(">HH", page, head + 3)
        first, last = head + length + 2 * cells, content or 65_536
        if last <= len(page) - reserved and bytes(page[first:last]).strip(b"\0"):
            os.pwrite(self._file, bytes(last - first), at + first)
