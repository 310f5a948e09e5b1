"""Rewrites: questions in a dialog with their meaning written out, as in CANARD and QReCC.

Source: the data of "Can You Unpack That? Learning to Rewrite Questions-in-Context" (CANARD) and of
"Open-Domain Question Answering Goes Conversational via Question Rewriting" (QReCC): a JSON list of
objects, `{"History": [...], "Question": ..., "Rewrite": ...}` or with `Context` for the history. An
example is an episode of its own: its `text` is the history, a line each, with the question as the
last line; its label is the rewrite. So `accuracy` is the share of rewrites equal to the label in
ParlAI's normal form, and `f1` the overlap of their words.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from prolocutor.data_sets import DataPlace, OnFault, refuse
from prolocutor.errors import BadData, NotFound
from prolocutor.plugins.evaluation.parlai.line_reader import LineSource
from prolocutor.plugins.evaluation.parlai.message import Message

HISTORIES: Final = ("History", "Context")


class Rewrites(LineSource):
    """A file of questions with rewrites: a JSON list, or a JSON object a line."""

    def __init__(self, file: str | Path, *, on_fault: OnFault = refuse) -> None:
        super().__init__(file, on_fault)
        self._whole = Path(file)

    def episodes(self) -> Iterator[list[Message]]:
        """Read the file once."""
        if not self._whole.is_file():
            raise NotFound(f"{self._whole}: there is no such file", field="data")
        with self._whole.open("rb") as file:
            is_list = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        if not is_list:
            for message in self._parse_lines(
                lambda text: _read_line(text) if text.strip() else None
            ):
                yield [message]
            return
        for place, item in enumerate(self._items()):
            try:
                yield [_message(item)]
            except BadData as fault:
                self._on_fault(
                    BadData(f"question {place + 1}: {fault.what}", file=str(self._whole))
                )

    def _items(self) -> list[Any]:
        try:
            return msgspec.json.decode(
                self._whole.read_bytes().removeprefix(b"\xef\xbb\xbf"), type=list[Any]
            )
        except (ValueError, RecursionError) as error:
            raise BadData(f"not JSON: {error}", file=str(self._whole)) from None


def _read_line(line: str) -> Message:
    try:
        return _message(msgspec.json.decode(line))
    except (ValueError, RecursionError) as error:
        raise BadData(f"not JSON: {error}") from None


def _message(item: Any) -> Message:
    """Return the example of a JSON object; `BadData` names the field."""
    if not isinstance(item, dict):
        raise BadData("is not an object with Question and Rewrite")
    key = next((name for name in HISTORIES if name in item), HISTORIES[0])
    history = item.get(key, [])
    if not isinstance(history, list) or not all(isinstance(one, str) for one in history):
        raise BadData(f"{key} is not a list of texts", field=key)
    for name in ("Question", "Rewrite"):
        if not isinstance(item.get(name), str):
            raise BadData(f"{name} is not a text", field=name)
    lines = [" ".join(one.split()) for one in (*history, item["Question"])]
    return Message({"text": "\n".join(lines), "labels": [" ".join(item["Rewrite"].split())]})


class RewritesData(msgspec.Struct, frozen=True, kw_only=True):
    """A file of questions with rewrites, as CANARD and QReCC have them."""

    suffix: ClassVar[str] = ".json"

    def build(self, place: DataPlace) -> Rewrites:
        """Return the data set."""
        return Rewrites(place.file(self.suffix), on_fault=place.on_fault)
