"""Dialects: the frames that Almond clients get for rows of the feed, in both generations.

Sources: the Almond Dialog API and its servers. `SECOND` is Genie's (2.x): every message has an
`id`, words are echoed, `askSpecial` has a `context`. `FIRST` (1.x, before 2021) lacks these, and
has fewer kinds of messages.
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
"""The longest frame in bytes; longer frames break clients such as genie-client-cpp."""

NO_CONTEXT: Final = ("null",)
"""The code of a context in which nothing is going on, as Genie writes it."""

_UNKNOWN_TO_SECOND: Final = frozenset({"result"})
_PRESSED: Final = frozenset({"choice", "button"})
_ANSWERED: Final = frozenset({"choice"})
"""Message types that end with an answer: buttons before the last input, and choices."""
_LINKED_BY_FIRST: Final = frozenset({"audio", "video"})
_UNKNOWN_TO_FIRST: Final = frozenset({"command", "sound", "new-program"})


class Dialect(Protocol):
    """The wire form of a generation of clients."""

    opens_with_id: bool
    """Whether the first frame of a socket has the conversation's id."""

    cached: int
    """The number of earlier messages shown at the opening of a socket."""

    def select_rows(self, rows: Sequence[FeedRow]) -> list[FeedRow]:
        """Return the rows to show of consecutive rows, without repeated words."""

    def select_earlier_rows(self, rows: Sequence[FeedRow], ask: str | None) -> list[FeedRow]:
        """Return the rows of earlier turns to show to a new client; `ask` is the open ask."""

    def message(self, row: FeedRow) -> Frame | None:
        """Return the frame of a row; None for types unknown to this generation."""

    def expectation(self, closing: Frame) -> Frame:
        """Return the `askSpecial` of an expectation `{"ask", "code"?, "entities"?}`."""


class SecondDialect:
    """The dialect of Genie, 2.x."""

    opens_with_id = True
    cached = 10

    def select_rows(self, rows: Sequence[FeedRow]) -> list[FeedRow]:
        """Return all rows."""
        return list(rows)

    def select_earlier_rows(self, rows: Sequence[FeedRow], ask: str | None) -> list[FeedRow]:
        """Return all rows, with the same ids."""
        return list(rows)

    def message(self, row: FeedRow) -> Frame | None:
        """Return the frame of a row, with its id."""
        frame = _read(row)
        if frame is None or frame["type"] in _UNKNOWN_TO_SECOND:
            return None
        return {**_bound_frame(_COMPLETIONS.get(frame["type"], _keep)(frame)), "id": row.id}

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

    def select_rows(self, rows: Sequence[FeedRow]) -> list[FeedRow]:
        """Return the rows without texts repeated by a following result."""
        kinds = [_result_text(row) for row in [*rows[1:], None]]
        return [
            row
            for row, said in zip(rows, kinds, strict=False)
            if said is None or said != _text_words(row)
        ]

    def select_earlier_rows(self, rows: Sequence[FeedRow], ask: str | None) -> list[FeedRow]:
        """Return the rows without choices and buttons that have been answered."""
        kinds = [_message_type(row) for row in rows]
        inputs = [number for number, kind in enumerate(kinds) if kind == "command"]
        last = inputs[-1] if inputs else -1
        answered = _ANSWERED if ask is None else frozenset()
        left = [
            row
            for number, row in enumerate(rows)
            if kinds[number] not in (_PRESSED if number < last else answered)
        ]
        return self.select_rows(left)

    def message(self, row: FeedRow) -> Frame | None:
        """Return the frame of a row, without id; None for echoes and types of 2.x."""
        frame = _read(row)
        if frame is None or frame["type"] in _UNKNOWN_TO_FIRST:
            return None
        frame = _COMPLETIONS.get(frame["type"], _keep)(frame)
        if frame["type"] in _LINKED_BY_FIRST:
            frame = _link_picture(frame)
        frame.pop("utt_id", None)
        return _bound_frame(frame)

    def expectation(self, closing: Frame) -> Frame:
        """Return the `askSpecial`: the ask alone."""
        return {"type": "askSpecial", "ask": closing.get("ask")}


SECOND: Final = SecondDialect()
FIRST: Final = FirstDialect()


def error_frame(refused: ErrorResponse) -> Frame:
    """Return the frame of an error, with its text under both keys that clients read."""
    text = refused.error
    return {"type": "error", "error": text, "message": text, "code": refused.code}


def encode_frame(frame: Frame) -> str:
    """Encode a frame for a socket."""
    return plain.encode(frame).decode()


def _read(row: FeedRow) -> Frame | None:
    if row.message is None:
        return None
    frame: Frame = plain.decode(row.message)
    frame.pop(NOTIFICATION, None)
    if frame.get("type") != "command":
        frame["icon"] = frame.get("icon") or None
    return frame


def _message_type(row: FeedRow) -> str | None:
    kind: str | None = None if row.message is None else plain.decode(row.message).get("type")
    return kind


def _text_words(row: FeedRow) -> str | None:
    """Return the words of a text; None for any other message."""
    message = {} if row.message is None else plain.decode(row.message)
    return message.get("text") if message.get("type") == "text" else None


def _result_text(row: FeedRow | None) -> str | None:
    """Return the words of a result; None for any other message."""
    if row is None or row.message is None or b"result" not in row.message:
        return None
    message = plain.decode(row.message)
    return message.get("fallback") if message.get("type") == "result" else None


def _keep(frame: Frame) -> Frame:
    return frame


def _decode_button(frame: Frame) -> Frame:
    """Return a button with an object as `json`, which clients can send back as `parsed`."""
    json = frame["json"]
    if isinstance(json, str):
        try:
            frame["json"] = plain.decode(json)
        except msgspec.DecodeError:
            frame["json"] = {"program": json}
    return frame


def _add_address(frame: Frame) -> Frame:
    """Return a link with its address under `link` (the description) and `url` (the wire)."""
    return {**frame, "link": frame["url"]}


def _add_title(frame: Frame) -> Frame:
    rdl = frame["rdl"]
    if not isinstance(rdl.get("displayTitle"), str):
        frame["rdl"] = {**rdl, "displayTitle": rdl["webCallback"]}
    return frame


def _link_picture(frame: Frame) -> Frame:
    title = frame.get("alt") or frame["url"]
    return {
        "type": "rdl",
        "rdl": {"webCallback": frame["url"], "displayTitle": title},
        "icon": frame["icon"],
    }


def _bound_frame(frame: Frame) -> Frame:
    size = len(plain.encode(frame))
    if size <= MAX_FRAME:
        return frame
    text = f"(This {frame['type']} message has {size:,} bytes, too many to be sent.)"
    return {"type": "text", "text": text, "icon": frame.get("icon")}


_COMPLETIONS: Final = {
    "button": _decode_button,
    "link": _add_address,
    "rdl": _add_title,
}
