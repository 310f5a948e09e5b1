"""Dialog: all that one human and the assistant said, with both profiles."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.profiles import Bot, Human
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance


class Dialog(msgspec.Struct, kw_only=True):
    """All that one human and the assistant said, or the last part of it (a window).

    Times are UTC, `YYYY-MM-DD HH:MM:SS.ffffff`; `date_finish` is the time of the last reply, or
    None before the first. `rating` is the last rating of the dialog as a whole.
    """

    dialog_id: str
    id: str
    human: Human
    bot: Bot
    channel_type: str
    date_start: str | None
    date_finish: str | None = None
    active: bool = True
    utterances: list[HumanUtterance | BotUtterance] = []
    attributes: JsonObject = {}
    rating: Any = None
    extra: JsonObject = {}
