"""ParlAI dialog text, read with errors that name their place and written without loss.

Source: ParlAI 1.7.2's `ParlAIDialogTeacher` and `msg_to_str`. Each line is an example: `key:value`
fields with tabs between them, lists with `|`, newline and tab escaped, `episode_done:True` at the
end of an episode. Blank lines mean nothing; the last line ends its episode in any case.

Lines that ParlAI would misread are faults here: fields without a colon or with spaces around the
key, repeated keys, an `episode_done` other than True and False. With `quirks` lines are read
exactly as by ParlAI (`formats.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import msgspec

from prolocutor.bounds import about
from prolocutor.data_sets import DataPlace, OnFault, refuse
from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.episodes import split_episodes
from prolocutor.plugins.evaluation.parlai.formats import (
    LIST_FIELDS,
    msg_to_str,
    number,
    str_to_msg,
    unescape,
)
from prolocutor.plugins.evaluation.parlai.line_reader import LineSource
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.text_writer import TextWriter, check_lossless

SUFFIX: Final = ".txt"
_SAYS_FALSE: Final = "episode_done:False"
"""Any text is true to ParlAI, so this ends an episode there."""


class DialogText(LineSource):
    """A file of ParlAI dialog text."""

    def __init__(
        self, file: str | Path, *, quirks: bool = False, on_fault: OnFault = refuse
    ) -> None:
        super().__init__(file, on_fault, plain=quirks)
        self._quirks = quirks
        self._read = read_as_parlai if quirks else read_line
        self._said_false = 0

    def warnings(self) -> list[str]:
        """Return warnings of lines read so far that ParlAI reads otherwise."""
        if not self._said_false:
            return []
        does = "does not end its episode" if not self._quirks else "ends its episode, as in ParlAI"
        other = (
            "in ParlAI it does (--quirks)" if not self._quirks else "without --quirks it does not"
        )
        return [f"episode_done:False in {self._said_false:,} lines {does}; {other}"]

    def episodes(self) -> Iterator[list[Message]]:
        """Read the file once."""
        return split_episodes(
            self._parse_lines(self._example), lambda message: bool(message.pop("episode_done"))
        )

    def _example(self, line: str) -> Message | None:
        self._said_false += _SAYS_FALSE in line
        message = self._read(line)
        if message is not None:
            _check_fields(message)
        return message


def read_line(line: str) -> Message | None:
    """Read one line without ParlAI's quirks; None for a blank line; `BadData` names the field."""
    fields: dict[str, Any] = {}
    escaped = "\\" in line or "__PIPE__" in line
    for part in line.split("\t"):
        key, colon, value = part.partition(":")
        if not colon:
            if not part.strip():
                continue
            raise BadData(f"{part[:40]!r} has no colon: a field is key:value", field=part[:40])
        if key in fields or key != key.strip() or not key:
            raise BadData(_fault_of_key(key), field=key.strip() or None)
        if key in LIST_FIELDS:
            items = value.split("|")
            fields[key] = [unescape(item) for item in items] if escaped else items
        elif key == "reward":
            fields[key] = _reward(value)
        elif key == "episode_done":
            fields[key] = _flag(value)
        else:
            fields[key] = unescape(value) if escaped else value
    if not fields:
        return None
    fields.setdefault("episode_done", False)
    return Message(fields)


def read_as_parlai(line: str) -> Message | None:
    """Read one line with all of ParlAI's quirks; `BadData` where ParlAI fails too."""
    try:
        return str_to_msg(line)
    except ValueError as error:
        raise BadData(f"not a number: {error}", field="reward") from None


def write_line(message: dict[str, Any]) -> str:
    """Write one line; `BadData` names a field that would be read back otherwise."""
    for key, value in message.items():
        if any(mark in key for mark in ":\t\n"):
            raise BadData("the key has a colon, tab or newline", field=key)
        if isinstance(value, list | tuple) and key not in LIST_FIELDS:
            raise BadData("lists can be written only in the standard fields", field=key)
    line = msg_to_str(message)
    if line.endswith("\r"):
        what = "a carriage return at the end of the line would be lost"
        raise BadData(what, field=line.rpartition("\t")[2].partition(":")[0])
    try:
        again = read_line(line)
    except BadData as fault:
        what = f"cannot be written as ParlAI dialog text: {fault.what}"
        raise BadData(what, field=fault.field) from None
    check_lossless(message, again or {}, "ParlAI dialog text")
    return line


class DialogTextWriter(TextWriter):
    """Writes a file of ParlAI dialog text, with a blank line after each episode."""

    def write(self, episode: Sequence[dict[str, Any]]) -> None:
        """Write an episode; raise `BadData` where something would be lost."""
        last = len(episode) - 1
        messages = [{**one, "episode_done": place == last} for place, one in enumerate(episode)]
        for message in messages:
            _check_fields(message)
        self.put("".join(f"{write_line(message)}\n" for message in messages) + "\n")


def _check_fields(message: dict[str, Any]) -> None:
    if "eval_labels" in message:
        what = "gold answers belong into labels; the datatype makes eval_labels of them"
        raise BadData(what, field="eval_labels")
    for field in ("text", "labels"):
        if field not in message:
            raise BadData("is missing; every line has text and labels", field=field)


def _fault_of_key(key: str) -> str:
    if not key:
        return "there is no key before the colon"
    return "there are spaces around the key" if key != key.strip() else "the key occurs twice"


def _reward(value: str) -> int | float:
    try:
        reward = number(value)
    except ValueError:
        raise BadData(f"{value[:40]!r} is not a number", field="reward") from None
    if not math.isfinite(reward):
        raise BadData(f"{value[:40]!r} is not a finite number", field="reward")
    return reward


def _flag(value: str) -> bool:
    if value not in ("True", "False"):
        raise BadData(f"{value[:40]!r} is neither True nor False", field="episode_done")
    return value == "True"


class DialogTextData(msgspec.Struct, frozen=True, kw_only=True):
    """A file of ParlAI dialog text."""

    suffix: ClassVar[str] = ".txt"
    quirks: Annotated[bool, about("Whether lines are read with all of ParlAI's quirks.")] = False

    def build(self, place: DataPlace) -> DialogText:
        """Return the data set."""
        return DialogText(place.file(self.suffix), quirks=self.quirks, on_fault=place.on_fault)
