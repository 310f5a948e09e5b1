"""Dialects: the frames that Almond clients get for rows of the feed, in both generations.

Sources: the Almond Dialog API and its servers. `SECOND` is what Genie speaks (2.x): every message
has an `id`, words are echoed, `askSpecial` has a `context`. `FIRST` (1.x, before 2021) has none of
that, and fewer kinds of messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import msgspec

from prolocutor.contracts.store import FeedRow
from prolocutor.dialog import plain
from prolocutor.dialog.schedules import NOTIFICATION
from prolocutor.web.error_table import ErrorResponse

Frame = dict[str, Any]

MAX_FRAME: Final = 512_000
"""Bytes of a frame: longer ones break the line of clients such as genie-client-cpp."""

NO_CONTEXT: Final = ("null",)
"""The code of a context in which nothing is going on, as Genie writes it."""


class Dialect(Protocol):
    """How one generation of clients is written to."""

    opens_with_id: bool
    """Whether the first frame of a socket tells the conversation's id."""

    cached: int
    """Earlier messages that a client is shown when it opens a socket."""

    def shown(self, rows: Sequence[FeedRow]) -> list[FeedRow]:
        """Return the rows to show of rows that follow each other, none of them twice in words."""

    def replayed(self, rows: Sequence[FeedRow], ask: str | None) -> list[FeedRow]:
        """Return the rows of earlier turns to show to a new client; `ask` is what is open now."""

    def message(self, row: FeedRow) -> Frame | None:
        """Return the frame of a row; None if this generation does not know its type."""

    def expectation(self, closing: Frame) -> Frame:
        """Return the `askSpecial` for what is waited for: `{"ask", "code"?, "entities"?}`."""


class SecondDialect:
    """The dialect of Genie, 2.x."""

    opens_with_id = True
    cached = 10

    def shown(self, rows: Sequence[FeedRow]) -> list[FeedRow]:
        """Return all rows."""
        return list(rows)

    def replayed(self, rows: Sequence[FeedRow], ask: str | None) -> list[FeedRow]:
        """Return all rows: the same messages, with the same ids."""
        return list(rows)

    def message(self, row: FeedRow) -> Frame | None:
        """Return the frame of a row, with its id."""
        frame = _read(row)
        if frame is None or frame["type"] in _UNKNOWN_TO_SECOND:
            return None
        return {**_within_bounds(_COMPLETIONS.get(frame["type"], _as_it_is)(frame)), "id": row.id}

    def expectation(self, closing: Frame) -> Frame:
        """Return the `askSpecial`, with its context."""
        context = {
            "code": closing.get("code") or [*NO_CONTEXT],
            "entities": closing.get("entities") or {},
        }
        return {"type": "askSpecial", "ask": closing.get("ask"), "context": context}


class FirstDialect:
    """The dialect of Almond, 1.x."""

    opens_with_id = False
    cached = 30

    def shown(self, rows: Sequence[FeedRow]) -> list[FeedRow]:
        """Return the rows without the texts that say what a result after them says itself."""
        kinds = [_result_text(row) for row in [*rows[1:], None]]
        return [
            row
            for row, said in zip(rows, kinds, strict=False)
            if said is None or said != _said(row)
        ]

    def replayed(self, rows: Sequence[FeedRow], ask: str | None) -> list[FeedRow]:
        """Return the rows without choices and buttons that were answered since."""
        kinds = [_kind_of(row) for row in rows]
        inputs = [number for number, kind in enumerate(kinds) if kind == "command"]
        last = inputs[-1] if inputs else -1
        answered = _ANSWERED if ask is None else frozenset()
        left = [
            row
            for number, row in enumerate(rows)
            if kinds[number] not in (_PRESSED if number < last else answered)
        ]
        return self.shown(left)

    def message(self, row: FeedRow) -> Frame | None:
        """Return the frame of a row, without id; None for echoes and types of 2.x."""
        frame = _read(row)
        if frame is None or frame["type"] in _UNKNOWN_TO_FIRST:
            return None
        frame = _COMPLETIONS.get(frame["type"], _as_it_is)(frame)
        if frame["type"] in _LINKED_BY_FIRST:
            frame = _linked(frame)
        frame.pop("utt_id", None)
        return _within_bounds(frame)

    def expectation(self, closing: Frame) -> Frame:
        """Return the `askSpecial`: the ask alone."""
        return {"type": "askSpecial", "ask": closing.get("ask")}


SECOND: Final = SecondDialect()
FIRST: Final = FirstDialect()


def error_frame(refused: ErrorResponse) -> Frame:
    """Return the frame of an error, under both keys that clients read."""
    text = refused.error
    return {"type": "error", "error": text, "message": text, "code": refused.code}


def encoded(frame: Frame) -> str:
    """Return a frame as it is sent over a socket."""
    return plain.encode(frame).decode()


def _read(row: FeedRow) -> Frame | None:
    if row.message is None:
        return None
    frame: Frame = plain.decode(row.message)
    frame.pop(NOTIFICATION, None)
    if frame.get("type") != "command":
        frame["icon"] = frame.get("icon") or None
    return frame


def _kind_of(row: FeedRow) -> str | None:
    kind: str | None = None if row.message is None else plain.decode(row.message).get("type")
    return kind


def _said(row: FeedRow) -> str | None:
    """Return the words of a text; None for any other message."""
    message = {} if row.message is None else plain.decode(row.message)
    return message.get("text") if message.get("type") == "text" else None


def _result_text(row: FeedRow | None) -> str | None:
    """Return the words of a result; None for any other message."""
    if row is None or row.message is None or b"result" not in row.message:
        return None
    message = plain.decode(row.message)
    return message.get("fallback") if message.get("type") == "result" else None


def _as_it_is(frame: Frame) -> Frame:
    return frame


def _with_json_object(frame: Frame) -> Frame:
    """Return a button whose `json` is an object, so that clients can send it back as `parsed`."""
    json = frame["json"]
    if isinstance(json, str):
        try:
            frame["json"] = plain.decode(json)
        except msgspec.DecodeError:
            frame["json"] = {"program": json}
    return frame


def _with_both_addresses(frame: Frame) -> Frame:
    """Return a link with its address under `link` (the description) and `url` (the wire)."""
    return {**frame, "link": frame["url"]}


def _with_title(frame: Frame) -> Frame:
    rdl = frame["rdl"]
    if not isinstance(rdl.get("displayTitle"), str):
        frame["rdl"] = {**rdl, "displayTitle": rdl["webCallback"]}
    return frame


def _linked(frame: Frame) -> Frame:
    title = frame.get("alt") or frame["url"]
    return {
        "type": "rdl",
        "rdl": {"webCallback": frame["url"], "displayTitle": title},
        "icon": frame["icon"],
    }


def _within_bounds(frame: Frame) -> Frame:
    size = len(plain.encode(frame))
    if size <= MAX_FRAME:
        return frame
    text = f"(This {frame['type']} message has {size:,} bytes, too many to be sent.)"
    return {"type": "text", "text": text, "icon": frame.get("icon")}


_COMPLETIONS: Final = {
    "button": _with_json_object,
    "link": _with_both_addresses,
    "rdl": _with_title,
}
_UNKNOWN_TO_SECOND: Final = frozenset({"result"})
_PRESSED: Final = frozenset({"choice", "button"})
_ANSWERED: Final = frozenset({"choice"})
"""Messages that are over with an answer: what was offered before the last input, and choices."""
_LINKED_BY_FIRST: Final = frozenset({"audio", "video"})
_UNKNOWN_TO_FIRST: Final = frozenset({"command", "sound", "new-program"})
