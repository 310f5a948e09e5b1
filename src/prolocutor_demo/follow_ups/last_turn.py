"""The last turn, as the rules of the demo's agents see it."""

from __future__ import annotations

import msgspec


class LastTurn(msgspec.Struct, frozen=True):
    """A question that stands alone, the reply to it, and what agents said that it was about."""

    question: str
    reply: str
    entities: tuple[str, ...] = ()
