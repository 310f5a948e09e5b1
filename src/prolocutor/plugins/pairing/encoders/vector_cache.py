"""The vectors of texts, each computed once: in memory, in a file, and behind an endpoint."""

from __future__ import annotations

import os
import sqlite3
import sys
from array import array
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from math import hypot, isfinite
from pathlib import Path
from typing import Final

from prolocutor.contracts.pairing import Encoder
from prolocutor.errors import BadReply, ProlocutorError
from prolocutor.plugins.pairing.encoders.meanings import PROBES, encoder_name

Encode = Callable[[list[str]], Awaitable[Sequence[Sequence[float]]]]

MAX_CHARACTERS: Final = 2000
"""The most characters of a text that count."""

_MAX_VECTORS: Final = 10_000

_BATCH: Final = 32
"""Texts in one request: Text Embeddings Inference refuses more by default."""

_NOTHING: Final = "."

_PART: Final = 256
"""Texts that are encoded between two commits, which a killed run has to encode again."""

_NEAR: Final = 1e-3
_TABLE: Final = "create table if not exists vectors (text blob primary key, vector blob) strict"


class VectorCache:
    """Holds up to `most` vectors of norm 1; the least recently used one is dropped."""

    def __init__(self, encode: Encode, *, batch: int = 32, most: int = _MAX_VECTORS) -> None:
        self._encode, self._batch, self._most = encode, batch, most
        self._known: OrderedDict[str, array[float]] = OrderedDict()
        self._length: int | None = None

    def __len__(self) -> int:
        return len(self._known)

    async def vectors(self, texts: Sequence[str]) -> list[array[float]]:
        """Return a vector for each text; `BadReply` if the encoder returns anything else."""
        cuts = [text[:MAX_CHARACTERS] for text in texts]
        found: dict[str, array[float]] = {}
        for text in dict.fromkeys(cuts):
            if (known := self._known.get(text)) is not None:
                self._known.move_to_end(text)
                found[text] = known
        missing = [text for text in dict.fromkeys(cuts) if text not in found]
        for start in range(0, len(missing), self._batch):
            part = missing[start : start + self._batch]
            made = await self._encode(part)
            if len(made) != len(part):
                raise BadReply(f"{len(made)} vectors for {len(part)} texts")
            found.update(zip(part, map(self._check_width, made), strict=True))
        for text in missing:
            self._known[text] = found[text]
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return [found[text] for text in cuts]

    def _check_width(self, vector: Sequence[float]) -> array[float]:
        if self._length is None:
            self._length = len(vector)
        if not vector_is_sound(vector, self._length):
            what = f"{self._length} finite numbers" if self._length else "numbers"
            raise BadReply(f"a vector of {len(vector)} numbers, or none; {what} are expected")
        return unit_vector(vector)


def unit_vector(vector: Sequence[float]) -> array[float]:
    """Return a vector of the same direction and of length 1."""
    norm = hypot(*vector) or 1.0
    return array("f", [float(one) / norm for one in vector])


def vector_is_sound(vector: Sequence[float], length: int) -> bool:
    """Return whether it is of this length, and finite, as is its norm."""
    return length > 0 and len(vector) == length and isfinite(hypot(*vector))


class EndpointEncoder:
    """Calls `embed` (texts in, a vector for each out) in batches, and caches.

    A blank text is sent as a full stop, because endpoints refuse empty ones. Errors of `embed`
    propagate. `name` is that of the model.
    """

    def __init__(self, embed: Encode, *, name: str = "an endpoint") -> None:
        self.name = name
        self._embed = embed
        self._cache = VectorCache(self._request_vectors, batch=_BATCH)

    async def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order."""
        return await self._cache.vectors(texts)

    async def _request_vectors(self, texts: list[str]) -> Sequence[Sequence[float]]:
        return await self._embed([text if text.strip() else _NOTHING for text in texts])


class ModelGone(Exception):
    """An external model failed. Methods catch `ProlocutorError` and go on, so this is another."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class StoredEncoder:
    """Reads vectors from a file, and adds new vectors of `encoder` to the file.

    The file belongs to one encoder: `open` compares the vectors of some texts and empties the file
    if they differ, as after new weights in the same folder. A damaged file is replaced. It stores
    hashes of texts. Where it cannot be written, everything is encoded every time. An encoder that
    fails ends the measurement by `ModelGone`: a turn goes on without vectors, but figures without
    vectors are figures of another method. `where` names the encoder there. `on_texts` is
    called with how many of the texts of a large `encode` have been encoded, and how many have to
    be.
    """

    def __init__(
        self,
        encoder: Encoder,
        file: Path,
        where: str = "",
        *,
        on_texts: Callable[[int, int], None] = lambda done, number: None,
    ) -> None:
        self.name = encoder_name(encoder)
        self._encoder, self._where, self._on_texts = encoder, where, on_texts
        self._known: dict[str, Sequence[float]] = {}
        self._file, self._rows = file, _open_file(file)

    async def open(self) -> None:
        """Ask the encoder for the vectors of some texts."""
        fresh = await self._ask(PROBES)
        stored = [self._read(PROBES).get(text, ()) for text in PROBES]
        if any(_differ(one, other) for one, other in zip(fresh, stored, strict=True)):
            try:
                self._rows.execute("delete from vectors")
            except sqlite3.Error:  # what is there is of another encoder, and cannot be removed
                self._rows.close()
                self._rows = _connect(":memory:")
            self._write(PROBES, fresh)

    async def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order."""
        cuts = [text[:MAX_CHARACTERS] for text in texts]
        wanted = [text for text in dict.fromkeys(cuts) if text not in self._known]
        self._known |= self._read(wanted)
        missing = [text for text in wanted if text not in self._known]
        for start in range(0, len(missing), _PART):
            part = missing[start : start + _PART]
            self._write(part, await self._ask(part))
            if len(missing) > _PART:
                self._on_texts(min(start + _PART, len(missing)), len(missing))
        return [self._known[text] for text in cuts]

    def close(self) -> None:
        """Close the file."""
        self._rows.close()

    async def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        try:
            return await self._encoder.encode(texts)
        except ProlocutorError as error:
            raise ModelGone(f"the encoder {self._where} fails: {error}") from None

    def _read(self, texts: Sequence[str]) -> dict[str, Sequence[float]]:
        found: dict[str, Sequence[float]] = {}
        asked = "select vector from vectors where text = ?"
        for text in texts:
            with suppress(sqlite3.Error, ValueError):  # locked or damaged: it is encoded again
                if row := self._rows.execute(asked, (_key(text),)).fetchone():
                    found[text] = array("f", row[0])
        return found

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


def _open_file(file: Path) -> sqlite3.Connection:
    """Open the database; replace a damaged file, and use memory if the file cannot be written."""
    for _ in range(2):
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _connect(str(file))
        except sqlite3.OperationalError:  # not writable, or locked
            break
        except sqlite3.DatabaseError:
            with suppress(OSError):
                for ending in ("", "-wal", "-shm"):
                    file.with_name(file.name + ending).unlink(missing_ok=True)
    return _connect(":memory:")


def _connect(place: str) -> sqlite3.Connection:
    rows = sqlite3.connect(place, timeout=30.0)
    try:
        rows.execute("pragma journal_mode = wal")
        rows.execute("pragma synchronous = normal")
        rows.execute(_TABLE)
        if (said := rows.execute("pragma quick_check(1)").fetchone()) != ("ok",):
            raise sqlite3.DatabaseError(said)
        rows.commit()
    except sqlite3.Error:
        rows.close()
        raise
    return rows


def _differ(fresh: Sequence[float], stored: Sequence[float]) -> bool:
    if len(fresh) != len(stored):
        return True
    return any(abs(one - other) > _NEAR for one, other in zip(fresh, stored, strict=True))


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
