"""The opening of a turn as it stands in a file or database while the turn is open.

It is as short as possible: a page of a file holds the openings of some ten turns, so opening and
closing these turns writes one page and frees no page.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import TurnOpening

_STORED: Final = (
    "turn_id",
    "user",
    "dialog_name",
    "channel_type",
    "utt_id",
    "bot_utt_id",
    "date_time",
    "started",
    "text",
    "attributes",
    "message",
    "start",
    "round",
    "request_key",
    "request_hash",
    "window",
    "hypotheses",
)
"""The stored fields in order; later fields have to come at the end."""

_UNUSED: Final = {"human_id": "", "dialog_id": "", "id": "", "bot_id": ""}
"""The `new_dialog` of a turn that is resumed: its dialog was made when it was opened."""

_values_of: Final = attrgetter(*_STORED)
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Any] | dict[str, Any]).decode


def pack_opening(opening: TurnOpening) -> bytes:
    """Write an opening as stores keep it."""
    return _encode(_values_of(opening))


def unpack_opening(packed: bytes) -> TurnOpening:
    """Read a stored opening; older openings have their fields by name."""
    found = _decode(packed)
    fields = found if isinstance(found, dict) else dict(zip(_STORED, found, strict=False))
    return msgspec.convert({"new_dialog": _UNUSED, **fields}, TurnOpening)
