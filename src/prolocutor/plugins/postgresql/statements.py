"""Statements by name, and texts in PostgreSQL's form: it has no NUL in texts, but JSON has."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any, Final

from prolocutor.stores.statements import named_statements

_ESCAPED: Final = re.compile("\x01[01]")

SQL: Final = named_statements("prolocutor.plugins.postgresql")
"""The statements of `sql/queries/` by name."""


def stored_text(text: str) -> str:
    """Encode a text without NUL; `shown_text` decodes it."""
    if "\x00" in text or "\x01" in text:
        return text.replace("\x01", "\x011").replace("\x00", "\x010")
    return text


def shown_text(text: str) -> str:
    """Decode a stored text."""
    if "\x01" in text:
        return _ESCAPED.sub(lambda found: "\x00" if found.group() == "\x010" else "\x01", text)
    return text


def shown_columns(row: Iterable[Any]) -> list[Any]:
    """Return the columns of a row with texts decoded."""
    return [
        shown_text(one)
        if isinstance(one, str)
        else [shown_text(each) for each in one]
        if isinstance(one, list)
        else one
        for one in row
    ]


def name_digest(first: str, second: str) -> bytes:
    """Return a digest of two names, as a key of fixed size."""
    given = f"{len(first)} {first}{second}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(given, digest_size=16).digest()
