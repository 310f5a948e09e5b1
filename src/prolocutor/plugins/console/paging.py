"""Pages of lists: the number of items on a page, and the place where the next page begins.

    class RowPage(msgspec.Struct, frozen=True):
        items: list[Row]
        next: str | None

    CURSOR: Final = CursorCodec(AfterRow)  # a Struct such as (at, number): the last row shown

A page is cut by the keys of its rows, so it stays right while rows are added.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Final, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from prolocutor.errors import BadInput

T = TypeVar("T")

MAX_LIMIT: Final = 200

Limit: TypeAlias = Annotated[
    int,
    Meta(
        ge=1,
        le=MAX_LIMIT,
        description="How many items a page has at most.",
        extra={"error": f"limit is a whole number from 1 to {MAX_LIMIT}"},
    ),
]
"""The type of a parameter named `limit`."""

Cursor: TypeAlias = Annotated[
    Annotated[str, Meta(max_length=2000)] | None,
    Meta(
        description="The `next` of the page before; none for the first page.",
        extra={"error": "a cursor is the next of another page"},
    ),
]
"""The type of a parameter named `cursor`."""


class CursorCodec(Generic[T]):
    """Writes and reads the place where the next page begins, as an opaque text."""

    def __init__(self, type_: type[T]) -> None:
        self._decoder = msgspec.msgpack.Decoder(type_)

    def write(self, place: T | None) -> str | None:
        """Return the text of a place; None if there is no further page."""
        if place is None:
            return None
        return urlsafe_b64encode(msgspec.msgpack.encode(place)).decode().rstrip("=")

    def read(self, cursor: str | None) -> T | None:
        """Return the place of a text; None for None. Raise `BadInput` for another list's cursor."""
        if cursor is None:
            return None
        try:
            return self._decoder.decode(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        except (binascii.Error, msgspec.DecodeError, ValueError):
            raise BadInput("a cursor is the next of another page", field="cursor") from None
