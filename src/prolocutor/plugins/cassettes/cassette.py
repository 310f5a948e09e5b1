"""Cassette: a recorded conversation, read from and written to a file of JSON lines.

The first line is the `header`. Each turn has a line with the person's words (`says`), a line for
each call (`call`), and a line with the reply (`reply`). A value that several requests share is
written once, in a separate line (`part`), and referred to as `{"$": number}`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject, decode, encode
from prolocutor.errors import BadData

VERSION: Final = 1
SUFFIX: Final = ".cassette"
_PART: Final = "$"
_LEAST: Final = 120
"""Bytes from which on something that occurs twice is a part."""


class Header(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The origin of a recording: the assistant's settings and the time.

    - `at` is the start (UNIX seconds), `timezone` the server's time zone.
    - `services` has the target and the time-out (seconds) of each service, by `stage.name`.
    - `cards` are the agents' own descriptions.
    - `ignore` lists members of requests that may differ, as `stage.name: [dotted path]`; people
      write it.
    - `complete` is false if requests are unknown, as in a stored conversation.
    """

    assistant: str = ""
    name: str = "assistant"
    at: float = 0.0
    timezone: str = ""
    version: str = ""
    complete: bool = True
    services: dict[str, JsonObject] = {}
    cards: dict[str, JsonObject] = {}
    ignore: dict[str, list[str]] = {}
    live: list[str] = []


class RecordedCall(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A call: its request, its start (`after` seconds of the turn) and duration (`took` seconds).

    - `piece` tells the calls of a service in a turn apart.
    - `gave` is the reply, `failed` the error `{kind, what, ...}`; both are absent if the assistant
      stopped waiting.
    - `chunks` are streamed words before the reply: seconds since the call, and the words, null for
      a withdrawal.
    """

    call: str
    piece: str = ""
    asked: Any = None
    after: float = 0.0
    took: float = 0.0
    chunks: list[tuple[float, str | None]] = []
    gave: Any = msgspec.UNSET
    failed: JsonObject | None = None

    @property
    def dropped(self) -> bool:
        """Whether the assistant stopped waiting for the call."""
        return self.gave is msgspec.UNSET and self.failed is None


class RecordedReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The parts of a turn's reply that a replay compares.

    - `attributes` are the changes of profiles, as `person.attributes.tea: value`.
    - `by` is the way in which the reply was chosen, `failed` maps failed services to their error
      codes.
    - `error` is the exception of a turn without a reply.
    """

    reply: str = ""
    agent: str = ""
    by: str = ""
    asks: str | None = None
    messages: list[Any] = []
    attributes: JsonObject = {}
    failed: dict[str, str] = {}
    error: str | None = None


class RecordedTurn(msgspec.Struct, kw_only=True):
    """A person's input `at` a time (UNIX seconds), the calls of its turn, and the reply."""

    number: int
    at: float
    input: JsonObject
    calls: list[RecordedCall]
    reply: RecordedReply

    @property
    def says(self) -> str:
        """The person's words."""
        return str(self.input.get("says", ""))


class Cassette(msgspec.Struct, kw_only=True):
    """A recorded conversation."""

    header: Header
    turns: list[RecordedTurn]
    path: Path | None = None


class CassetteWriter:
    """Appends the turns of a conversation to a file, each after its end."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self._lines = CassetteLines()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_header_line(header) + b"\n")

    @staticmethod
    def file_content(cassette: Cassette) -> bytes:
        """Return the content of a cassette's file."""
        lines = CassetteLines()
        turns = [line for turn in cassette.turns for line in lines.take_turn(turn)]
        return b"\n".join([_header_line(cassette.header), *turns, b""])

    def append(self, turn: RecordedTurn) -> None:
        """Write a turn with the next number."""
        with self.path.open("ab") as file:
            file.write(b"\n".join(self._lines.take_turn(turn)) + b"\n")
            file.flush()
            os.fsync(file.fileno())


class CassetteLines:
    """Makes the lines of a cassette's turns, and numbers the shared parts."""

    def __init__(self) -> None:
        self._parts: dict[bytes, int] = {}
        self._turns = 0

    def take_turn(self, turn: RecordedTurn) -> list[bytes]:
        """Return the lines of the next turn."""
        self._turns += 1
        counted: Counter[bytes] = Counter()
        for call in turn.calls:
            _count(call.asked, counted, self._parts)
        lines: list[bytes] = [encode({"turn": self._turns, "at": turn.at, **turn.input})]
        for call in turn.calls:
            asked = self._refer_to_parts(call.asked, counted, lines)
            lines.append(encode(msgspec.structs.replace(call, asked=asked)))
        reply = encode(turn.reply)
        lines.append(reply if turn.reply.reply else _line_of_kind(reply, "reply", ""))
        return lines

    def _refer_to_parts(self, value: Any, counted: Counter[bytes], lines: list[bytes]) -> Any:
        """Return a value with its large parts replaced by references; add lines for new parts."""
        if not isinstance(value, dict | list):
            return value
        key = encode(value)
        if len(key) >= _LEAST and (number := self._parts.get(key)) is not None:
            return {_PART: number}
        inner: Any
        if isinstance(value, dict):
            inner = {name: self._refer_to_parts(one, counted, lines) for name, one in value.items()}
        else:
            inner = [self._refer_to_parts(one, counted, lines) for one in value]
        if len(key) < _LEAST or counted[key] < 2:
            return inner
        self._parts[key] = number = len(self._parts) + 1
        lines.append(encode({"part": number, "is": inner}))
        return {_PART: number}


def _count(value: Any, counted: Counter[bytes], known: dict[bytes, int]) -> None:
    if not isinstance(value, dict | list):
        return
    key = encode(value)
    if len(key) < _LEAST or key in known:
        return
    counted[key] += 1
    if counted[key] == 1:
        for one in value.values() if isinstance(value, dict) else value:
            _count(one, counted, known)


def _header_line(header: Header) -> bytes:
    return _line_of_kind(encode(header), "cassette", VERSION)


def _line_of_kind(line: bytes, key: str, value: object) -> bytes:
    """Return an object as a line whose first member is its kind."""
    rest = b"}" if line == b"{}" else b"," + line[1:]
    return b'{"%b":%b' % (key.encode(), encode(value)) + rest


def read_cassette(path: Path) -> Cassette:
    """Read a cassette; raise `BadData` with the number of a faulty line.

    A last turn without a reply, which was cut off, is left out.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadData(f"the cassette cannot be read: {error.strerror}", file=str(path)) from None
    header: Header | None = None
    turns: list[RecordedTurn] = []
    parts: dict[int, Any] = {}
    open_turn: RecordedTurn | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            said = decode(line)
            if header is None:
                header = _read_header(said)
            elif "part" in said:
                parts[said["part"]] = _resolve_parts(said["is"], parts)
            elif "call" in said:
                assert open_turn is not None
                said["asked"] = _resolve_parts(said.get("asked"), parts)
                open_turn.calls.append(msgspec.convert(said, RecordedCall))
            elif "turn" in said:
                place, at = said.pop("turn"), said.pop("at")
                open_turn = RecordedTurn(
                    number=place, at=at, input=said, calls=[], reply=RecordedReply()
                )
            else:
                assert open_turn is not None
                open_turn.reply = msgspec.convert(said, RecordedReply)
                turns.append(open_turn)
        except (LookupError, TypeError, AssertionError, ValueError, RecursionError) as error:
            if number == len(lines) and header is not None:
                break  # the recording was cut off
            what = f"this is not a line of a cassette ({error!s:.100}); record it anew"
            raise BadData(what, file=str(path), line=number) from None
    if header is None:
        raise BadData("this is not a cassette: it is empty; record it anew", file=str(path))
    return Cassette(header=header, turns=turns, path=path)


def _read_header(said: Any) -> Header:
    version = said.pop("cassette", None) if isinstance(said, dict) else None
    if version != VERSION:
        raise ValueError(f"a cassette begins with a line of version {VERSION}")
    return msgspec.convert(said, Header)


def _resolve_parts(value: Any, parts: dict[int, Any]) -> Any:
    """Return a value with its references to parts resolved."""
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(number := value.get(_PART), int):
            return parts[number]
        return {key: _resolve_parts(one, parts) for key, one in value.items()}
    if isinstance(value, list):
        return [_resolve_parts(one, parts) for one in value]
    return value


def find_files(paths: Sequence[Path], suffixes: Sequence[str]) -> Iterator[Path]:
    """Return the given files, and the files with a suffix in the given folders, sorted by name."""
    for path in paths:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.suffix in suffixes)
        else:
            yield path
