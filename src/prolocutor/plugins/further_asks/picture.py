"""Reads the address of a picture: http(s), or an upload to this server."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood
from prolocutor.dialog.plain import JsonObject

MAX_ADDRESS_CHARACTERS: Final = 2048
"""Characters of an address."""

_UPLOAD: Final = re.compile(r"/uploads/[\w.-]+(?:/[\w.-]+)*")
_UNSAFE: Final = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff<>\"\\^`{|}]")
_INSTEAD: Final = "Please upload it, or send an address that begins with https://."


def read(text: str, context: AnswerContext) -> Outcome:
    """Read the address of a picture: a URL."""
    address = find_picture_address(text)
    if address is not None:
        return Understood(address)
    return NotUnderstood(f"{PictureAddress.hint} {_INSTEAD}")


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed picture, or the address of a picture."""
    if type_name in {"picture", "raw_string"} and isinstance(value, str):
        return read(value, context)
    return NotUnderstood(PictureAddress.hint)


def find_picture_address(text: str) -> str | None:
    """Return the http(s) address or the upload of a whole text; None for any other."""
    if len(text) > 2 * MAX_ADDRESS_CHARACTERS:
        return None
    address = text.strip().strip("<>")
    if len(address) > MAX_ADDRESS_CHARACTERS or _UNSAFE.search(address):
        return None
    if _UPLOAD.fullmatch(address):
        return None if ".." in address else address
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in {"http", "https"} or not host or parts.username is not None:
        return None
    return address


class PictureAddress(AskOptions, frozen=True):
    """The URL of a picture."""

    hint: ClassVar[str] = "I'm looking for a picture."
    schema: ClassVar[JsonObject] = {
        "type": "string",
        "format": "uri",
        "description": "The address of a picture.",
    }
    read, take = staticmethod(read), staticmethod(take)
