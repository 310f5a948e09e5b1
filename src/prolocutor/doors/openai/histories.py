"""Histories: what went before an input, its hash, and the turns that it comes to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.dialog import plain
from prolocutor.dialog.inputs import EarlierTurn
from prolocutor.dialog.messages import is_ask
from prolocutor.dialog.utterances import BotUtterance
from prolocutor.doors.openai.requests import ChatInput, Said

MAX_RETOLD: Final = 10
"""Turns of a history that a new dialog begins with; services see fewer."""


class Ending(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a history ended: in a dialog of a user, with a reply.

    `came` is a hash of all attributes that came with the inputs, "" if there were none. `next` is
    set when the dialog has gone on: the idempotency key of the next input, or "-".
    """

    user: str
    dialog: str
    utt_id: str
    came: str = ""
    next: str = ""


def retold(history: Sequence[Said]) -> list[EarlierTurn]:
    """Return the last turns of a history; texts of one speaker in a row are one."""
    turns: list[list[str]] = []
    for one in history:
        is_reply = one.role == "assistant"
        if not turns or (not is_reply and turns[-1][1]):
            turns.append(["", ""])
        said = turns[-1][is_reply]
        turns[-1][is_reply] = f"{said}\n{one.text}" if said else one.text
    return [EarlierTurn(text=text, reply=reply) for text, reply in turns[-MAX_RETOLD:]]


def as_earlier(text: str, reply: BotUtterance) -> EarlierTurn:
    """Return a stored turn as one that a new dialog begins with."""
    messages, ask = reply.attributes.get("messages"), reply.attributes.get("ask")
    return EarlierTurn(
        text=text,
        reply=reply.text,
        messages=messages if isinstance(messages, list) else [],
        ask=ask if is_ask(ask) else None,
        skill=reply.active_skill,
    )


def history_kind(history: Sequence[Said]) -> str:
    """Return the kind of the records of a history; spaces and line breaks do not count."""
    told = [(one.role, " ".join(one.text.split())) for one in history]
    return f"openai-history:{_hashed(plain.encode(told))}"


def came_with(before: str, given: ChatInput) -> str:
    """Return the hash of all attributes that came so far; instructions are sent every time."""
    extra = {key: value for key, value in given.extra.items() if key != "instructions"}
    told = {**given.attributes, "openai": extra} if extra else given.own_attributes
    return _hashed(before.encode() + plain.encode(told)) if told else before


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return _hashed(text.encode("utf-8", "surrogatepass"))


def _hashed(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


read_ending: Final = msgspec.json.Decoder(Ending).decode
