"""Notice: what is to be said to a person unasked, as it stands in an entry of the agenda."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject

NOTIFICATION: Final = "notification"
"""The key by which a message tells that a running program says it: `{appId, raw, type, text?}`, or
`{appId, error}`. `text` is the message's own without what stands before it. The messages that
follow it, up to the closing, belong to it."""


class Notice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages, perhaps a question, and how to go on with them.

    `skill` says it, and gets the answer to `ask`; `context` comes with the answer. `every` (a key
    of `recurrence.EVERY`) brings it again, counted from `first` (UNIX seconds) by the clock of
    `timezone`. `digest` tells two notices of one key apart; `said`: it was said, and only stays for
    a client that asks again. `program` belongs to what runs programs; the rest is empty then.
    """

    messages: list[JsonObject] = []
    ask: str | None = None
    skill: str = ""
    context: Any = None
    every: str | None = None
    timezone: str | None = None
    first: float | None = None
    digest: str | None = None
    said: bool = False
    program: Any = None


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Notice).decode
