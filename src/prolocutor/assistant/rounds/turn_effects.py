"""What is stored together with a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from prolocutor.contracts.store import NO_ASK_CLOSING, AgendaEntry
from prolocutor.dialog.rounds import PendingAsk


class HandoverChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a turn changed about who has the dialog, or was said while a person had it.

    `waits`: a person is wanted from now on, for the reason in `text`. `heard`: the person spoke.
    """

    state: Literal["waits", "taken", "said", "heard", "given"]
    by: str = ""
    text: str = ""
    note: str = ""


class TurnEffects(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored together with a reply; `round` is None if it has not changed.

    `stores`: of both utterances, what was `heard` alone, or what was `said`.
    """

    waiting: PendingAsk | None = None
    round: bytes | None = None
    closing: bytes = NO_ASK_CLOSING
    entries: Sequence[AgendaEntry] = ()
    struck: Sequence[tuple[str, str]] = ()
    stores: Literal["both", "heard", "said"] = "both"
    handover: HandoverChange | None = None
