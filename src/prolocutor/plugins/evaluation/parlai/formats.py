"""One line of ParlAI dialog text <-> one message, exactly as ParlAI does it.

Source: ParlAI 1.7.2, `str_to_msg` and `msg_to_str`. A line is `key:value` fields with tabs between
them; in values newline and tab are written as backslash and n or t, `|` as `__PIPE__`.

Quirks kept here: `episode_done:False` is true (only an empty value is not), a field without a
colon is a key without its last character, the last of two equal keys wins, fields with an empty
key are dropped, and writing is lossy. `dialog_text.py` reads and writes the same format without
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from prolocutor.plugins.evaluation.parlai.message import Message

LIST_FIELDS: Final = frozenset({"labels", "eval_labels", "label_candidates", "text_candidates"})
FIRST_FIELDS: Final = ("id", "text", "labels", "label_candidates", "episode_done", "reward")
"""The order in which a line begins; other fields follow in the message's own order."""


def str_to_msg(txt: str | None, ignore_fields: str = "") -> Message | None:
    """Read one line; None for an empty line. `ignore_fields`: names with commas between them.

    Raise `ValueError` if the reward is not a number.
    """
    if not txt:
        return None
    ignored = ignore_fields.split(",")
    fields: dict[str, Any] = {}
    for part in txt.split("\t"):
        colon = part.find(":")
        key, value = part[:colon], part[colon + 1 :]
        if key not in ignored:
            fields[key] = _parse_value(key, value)
    fields.setdefault("episode_done", False)
    return Message(fields)


def msg_to_str(msg: Mapping[str, Any], ignore_fields: str = "") -> str:
    """Write one line, without its newline. `ignore_fields`: names with commas between them."""
    ignored = ignore_fields.split(",")
    first = [key for key in FIRST_FIELDS if key in msg]
    rest = [key for key in msg if key not in FIRST_FIELDS]
    return "".join(_field(key, msg[key]) for key in first + rest if key not in ignored).rstrip("\t")


def unescape(text: str) -> str:
    """Read the escapes of a value."""
    if "\\" in text:
        text = text.replace("\\t", "\t").replace("\\n", "\n")
    return text.replace("__PIPE__", "|") if "__PIPE__" in text else text


def escape(text: str) -> str:
    """Escape a value: tabs, newlines and pipes can be read back."""
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("|", "__PIPE__")


def number(text: str) -> int | float:
    """Read a reward: an integer if possible, else a float."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _parse_value(key: str, value: str) -> Any:
    if key in LIST_FIELDS:
        return [unescape(item) for item in value.split("|")]
    if key == "reward":
        return number(value)
    return bool(value) if key == "episode_done" else unescape(value)


def _field(key: str, value: Any) -> str:
    if (key == "reward" and value == 0) or (key == "episode_done" and value is False):
        return ""
    if type(value) in (tuple, set, list):
        return f"{key}:{'|'.join(escape(str(item)) for item in value)}\t"
    return f"{key}:{escape(str(value))}\t"
