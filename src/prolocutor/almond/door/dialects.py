"""Dialects: the frames that Almond clients get for rows of the feed, in both generations.

Sources: the Almond Dialog API and its servers. `SECOND` is what Genie speaks (2.x): every message
has an `id`, words are echoed, `askSpecial` has a `context`. `FIRST` (1.x, before 2021) has none of
that, and fewer kinds of messages.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import msgspec

from prolocutor.contracts.store import FeedRow
from prolocutor.dialog import plain
from prolocutor.dialog.notices import NOTIFICATION

Frame = dict[str, Any]

MAX_FRAME: Final = 512_000
"""Bytes of a frame: longer ones break the line of clients such as genie-client-cpp."""

NO_CONTEXT: Final = ("null",)
"""The code of a context in which nothing is going on, as Genie writes it."""


class Dialect(Protocol):
    """How one generation of clients is written to."""

    opens_with_id: bool
    """Whether the first frame of a socket tells the conversation's id."""

    def message(self, row: FeedRow) -> Frame | None:
        """Return the frame of a row; None if this generation does not know its type."""

    def expectation(self, closing: Frame) -> Frame:
        """Return the `askSpecial` for what is waited for: `{"ask", "code"?, "entities"?}`."""


class SecondDialect:
    """The dialect of Genie, 2.x."""

    opens_with_id = True

    def message(self, row: FeedRow) -> Frame | None:
        """Return the frame of a row, with its id."""
        frame = _read(row)
        if frame is None:
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


def error_frame(text: str, code: str) -> Frame:
    """Return the frame of an error, under both keys that clients read."""
    return {"type": "error", "error": text, "message": text, "code": code}


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
_LINKED_BY_FIRST: Final = frozenset({"audio", "video"})
_UNKNOWN_TO_FIRST: Final = frozenset({"command", "sound", "new-program"})
