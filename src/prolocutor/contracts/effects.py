"""Effects: what a reply does beside filling the slot of its service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from prolocutor.dialog.plain import JsonObject


class Effects(msgspec.Struct, frozen=True, kw_only=True):
    """What a reply does beside filling its slot; a response formatter may return it for a reply.

    `value`: the reply in the shape of its stage; an annotator without one annotates nothing.
    `previous`: an annotation of the bot utterance before this turn. `hypotheses`: of a candidate
    annotator, an annotation for each of the hypotheses that it was asked about, in their order.
    `human_attributes` and `bot_attributes` change the profiles, which later services of the turn
    see. `asks` names by label those that are asked of the services whose own `after` names this
    one; None: all of them. `carries`: of a response selector, whether what the chosen hypotheses
    bring (attributes, annotations, messages) goes with the reply.
    """

    value: Any = msgspec.UNSET
    previous: Any = msgspec.UNSET
    hypotheses: Sequence[Any] | None = None
    human_attributes: JsonObject = {}
    bot_attributes: JsonObject = {}
    asks: Sequence[str] | None = None
    carries: bool = True
