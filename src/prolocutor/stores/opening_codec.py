"""The opening of a turn as it stands in a file or database while the turn is open.

It is as short as it can be: a page of a file holds those of some ten turns, so that to open and
to close these writes one page and frees none.
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
"""The fields that are stored, in this order; a later one has to come at the end."""

_UNUSED: Final = {"human_id": "", "dialog_id": "", "id": "", "bot_id": ""}
"""The `new_dialog` of a turn that is resumed: its dialog was made when it was opened."""

_values_of: Final = attrgetter(*_STORED)
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Any] | dict[str, Any]).decode


def pack_opening(opening: TurnOpening) -> bytes:
    """Write an opening as stores keep it."""
    return _encode(_values_of(opening))


def unpack_opening(packed: bytes) -> TurnOpening:
    """Read an opening as stores keep it; older ones have its fields by their names."""
    found = _decode(packed)
    fields = found if isinstance(found, dict) else dict(zip(_STORED, found, strict=False))
    return msgspec.convert({"new_dialog": _UNUSED, **fields}, TurnOpening)
