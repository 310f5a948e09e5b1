"""StoredEncoder: an encoder whose vectors are kept in a file, by text, from one run to the next."""

from __future__ import annotations

import os
import sqlite3
import sys
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from prolocutor.contracts.pairing import Encoder
from prolocutor.plugins.pairing.encoders.encoder_mark import PROBES, name_of
from prolocutor.plugins.pairing.encoders.vector_cache import LONGEST

_PART: Final = 256
"""How many texts are encoded between two commits: what a killed run has to encode again."""

_ASKED_AT_ONCE: Final = 500
_NEAR: Final = 1e-3
_TABLE: Final = "create table if not exists vectors (text blob primary key, vector blob) strict"


class StoredEncoder:
    """Reads vectors from a file, and writes those there that `encoder` has to make.

    The file belongs to one encoder: `open` compares the vectors of some texts and empties the file
    if they differ, as after new weights in the same folder. A damaged file is replaced. It stores
    hashes of texts. Where it cannot be written, everything is encoded every time. `on_texts` is
    called with how many of the texts of a large `encode` have been encoded, and how many have to
    be.
    """

    def __init__(
        self,
        encoder: Encoder,
        file: Path,
        *,
        on_texts: Callable[[int, int], None] = lambda done, number: None,
    ) -> None:
        self.name = name_of(encoder)
        self._encoder, self._on_texts = encoder, on_texts
        self._known: dict[str, Sequence[float]] = {}
        self._file, self._rows = file, _opened(file)

    async def open(self) -> None:
        """Ask the encoder for the vectors of some texts; its errors propagate."""
        fresh = await self._encoder.encode(PROBES)
        stored = [self._read(PROBES).get(text, ()) for text in PROBES]
        if any(_differ(one, other) for one, other in zip(fresh, stored, strict=True)):
            try:
                self._rows.execute("delete from vectors")
            except sqlite3.Error:  # what is there is of another encoder, and cannot be removed
                self._rows.close()
                self._rows = _in_memory()
            self._write(PROBES, fresh)

    async def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order."""
        cuts = [text[:LONGEST] for text in texts]
        wanted = [text for text in dict.fromkeys(cuts) if text not in self._known]
        self._known |= self._read(wanted)
        missing = [text for text in wanted if text not in self._known]
        for start in range(0, len(missing), _PART):
            part = missing[start : start + _PART]
            self._write(part, await self._encoder.encode(part))
            if len(missing) > _PART:
                self._on_texts(min(start + _PART, len(missing)), len(missing))
        return [self._known[text] for text in cuts]

    def close(self) -> None:
        """Close the file."""
        self._rows.close()

    def _read(self, texts: Sequence[str]) -> dict[str, Sequence[float]]:
        found: dict[str, Sequence[float]] = {}
        keys = {_key(text): text for text in texts}
        every = list(keys)
        for start in range(0, len(every), _ASKED_AT_ONCE):
            part = every[start : start + _ASKED_AT_ONCE]
            marks = ",".join("?" * len(part))
            asked = f"select text, vector from vectors where text in ({marks})"
            try:
                for key, data in self._rows.execute(asked, part):
                    found[keys[key]] = array("f", data)
            except sqlite3.OperationalError:  # locked: these are encoded again
                continue
            except (sqlite3.Error, ValueError):
                self._replace()
                return {}
        return found

    def _replace(self) -> None:
        """Begin a new file in the place of a damaged one."""
        self._rows.close()
        with suppress(OSError):
            for ending in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + ending).unlink(missing_ok=True)
        self._rows = _opened(self._file)

    def _write(self, texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
        rows = []
        for text, vector in zip(texts, vectors, strict=True):
            kept = self._known[text] = array("f", vector)
            rows.append((_key(text), kept.tobytes()))
        with suppress(sqlite3.Error):  # a full disk costs time, not the run
            self._rows.executemany("insert or replace into vectors values (?, ?)", rows)
            self._rows.commit()


def cache_file(where: str) -> Path:
    """Return the file for the encoder of a folder or URL, in the user's folder for caches."""
    place = where if "://" in where else os.path.realpath(where)
    digest = sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return _caches() / "prolocutor" / "vectors" / f"{digest}.db"


def _caches() -> Path:
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given)
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _opened(file: Path) -> sqlite3.Connection:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = sqlite3.connect(file, timeout=30.0)
        try:
            rows.execute("pragma journal_mode = wal")
            rows.execute("pragma synchronous = normal")
            rows.execute(_TABLE)
            rows.commit()
        except sqlite3.Error:
            rows.close()
            raise
    except (OSError, sqlite3.Error):
        rows = _in_memory()
    return rows


def _in_memory() -> sqlite3.Connection:
    rows = sqlite3.connect(":memory:")
    rows.execute(_TABLE)
    return rows


def _differ(fresh: Sequence[float], stored: Sequence[float]) -> bool:
    if len(fresh) != len(stored):
        return True
    return any(abs(one - other) > _NEAR for one, other in zip(fresh, stored, strict=True))


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
