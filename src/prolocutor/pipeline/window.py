"""Window: what services see of a dialog before this turn, as the bytes that the store gave."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import msgspec

from prolocutor.contracts.store import OpenedTurn, UtteranceParts
from prolocutor.dialog.plain import encode


class _Bot(msgspec.Struct):
    date_time: str
    active_skill: str


_bot: Final = msgspec.json.Decoder(_Bot).decode


def head(begun: OpenedTurn, human: bytes, bot: bytes) -> bytes:
    """Return the agent state up to its first utterance: ids, dates, both profiles."""
    bots = [said for said in begun.window if said.by_bot]
    front = {
        "dialog_id": begun.dialog_id,
        "_id": begun.id,
        "_active": "True",
        "channel_type": begun.opening.channel_type,
        "date_start": begun.date_start,
        "date_finish": _bot(bots[-1].body).date_time if bots else None,
    }
    return b'%b,"rating":%b,"attributes":%b,"human":%b,"bot":%b,%b' % (
        encode(front)[:-1],
        begun.rating,
        begun.dialog_attributes,
        human,
        bot,
        b'"utterances":[',
    )


def earlier(window: list[UtteranceParts], number: int | None) -> list[UtteranceParts]:
    """Return the last so many earlier utterances (None: all), from a human one on."""
    if number is not None and len(window) > number:
        window = window[len(window) - number :]
    while window and window[0].by_bot:
        window = window[1:]
    return window


def turns_of(skill: str, window: list[UtteranceParts]) -> list[UtteranceParts]:
    """Return the turns in which a skill spoke: what it was told, and its reply."""
    turns = [
        (before, said)
        for before, said in pairwise(window)
        if said.by_bot and not before.by_bot and _bot(said.body).active_skill == skill
    ]
    return [said for turn in turns for said in turn]
