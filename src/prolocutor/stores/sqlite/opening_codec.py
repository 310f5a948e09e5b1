"""The opening of a turn as it stands in the file while the turn is open."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import structs

from prolocutor.contracts.store import NewDialog, TurnOpening
from prolocutor.dialog.ids import DialogId


class _OldOpening(TurnOpening, frozen=True, kw_only=True):
    """An opening as older files have it, without `new_dialog`.

    A turn that is resumed does not need it: its person and dialog were made when it was opened.
    """

    new_dialog: NewDialog = NewDialog(human_id="", dialog_id=DialogId(""), id="", bot_id="")


pack_opening: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(TurnOpening).decode
_unpack_old: Final = msgspec.msgpack.Decoder(_OldOpening).decode


def unpack_opening(packed: bytes) -> TurnOpening:
    """Read an opening as it stands in the file."""
    try:
        return _unpack(packed)
    except msgspec.ValidationError:
        return TurnOpening(**structs.asdict(_unpack_old(packed)))
