"""Rows of a run: a JSON line for each example, appended in batches."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.owned_folder import replacing

MOMENT: Final = 0.1
"""Seconds of work that may be lost if the process is killed."""


class ExampleRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An example: the message, the answer, the answering agent, the scores.

    `n` is the example's position in the data, `turn` its position in the episode, `repeat` the
    number of earlier answers to it. `task` is the data set, where there are several. `example` is a
    hash over the example and all earlier examples of its episode. `input` and `act` are messages as
    JSON; `seconds` is the latency; `metrics` are the agent's own metrics (class and parts). A
    failed example has an `error` and scores as an empty answer.
    """

    n: int
    episode: int
    turn: int
    repeat: int = 0
    last: bool = True
    example: str
    group: str = ""
    task: str = ""
    input: dict[str, Any]
    act: dict[str, Any] = {}
    by: str = ""
    calls: int | None = None
    scores: dict[str, float | None] = {}
    metrics: dict[str, list[Any]] = {}
    seconds: float = 0.0
    error: str | None = None

    @property
    def answer(self) -> str:
        """The text of the answer."""
        text = self.act.get("text")
        return text if isinstance(text, str) else ""

    @property
    def labels(self) -> list[str]:
        """The right answers."""
        labels = self.input.get("eval_labels") or self.input.get("labels") or []
        return [labels] if isinstance(labels, str) else [str(label) for label in labels]


_ENCODER: Final = msgspec.json.Encoder(enc_hook=repr)
_DECODER: Final = msgspec.json.Decoder(ExampleRow)


def encode(row: ExampleRow) -> bytes:
    """Return a row as JSON; values that JSON has no form for become their `repr`."""
    try:
        return _ENCODER.encode(row)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        row.input, row.act, row.by = json_value(row.input), json_value(row.act), json_value(row.by)
        row.error = json_value(row.error)
        return _ENCODER.encode(row)


def decode(line: bytes) -> ExampleRow:
    """Read a row."""
    return _DECODER.decode(line)


def json_value(value: Any, depth: int = 0) -> Any:
    """Return a value in a form that JSON can hold: lone surrogates replaced, other objects as
    `repr`.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if depth < 32:
        if isinstance(value, dict):
            return {json_value(str(key)): json_value(one, depth + 1) for key, one in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [json_value(one, depth + 1) for one in value]
    return json_value(repr(value)[:1000])


class RowWriter:
    """Appends rows to a file: at once after a pause, else in batches of a tenth of a second."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._waiting: list[bytes] = []
        self._written = time.monotonic()

    def write(self, rows: Iterable[ExampleRow]) -> None:
        """Append the rows of an episode."""
        self._waiting += map(encode, rows)
        if time.monotonic() - self._written >= MOMENT:
            self.flush()

    def flush(self) -> None:
        """Write all rows that wait; from then on they survive the end of this process."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            data = memoryview(b"\n".join(waiting) + b"\n")
            while data:
                data = data[os.write(self._descriptor, data) :]
        self._written = time.monotonic()

    def close(self) -> None:
        """Write the waiting rows, and close the file."""
        try:
            self.flush()
        finally:
            os.close(self._descriptor)


def rewriting(file: Path, rows: Iterable[ExampleRow]) -> Iterator[ExampleRow]:
    """Replace a file's rows, yielding each; the file is replaced after the last row is taken."""
    with replacing(file) as out:
        for row in rows:
            out.write(encode(row) + b"\n")
            yield row
