"""Narrowing: the ask that follows an answer which is not yet a value."""

from __future__ import annotations

from msgspec.structs import replace

from prolocutor.asks.answers import Ambiguous, UnknownPlace
from prolocutor.dialog.rounds import NarrowedAsk, OfferedChoice, PendingAsk


def narrowed_ask(waiting: PendingAsk, outcome: Ambiguous | UnknownPlace) -> PendingAsk:
    """Return the ask for which of several values is meant, or where a place of the person is."""
    ask = waiting.narrowed.ask if waiting.narrowed is not None else waiting.ask
    if isinstance(outcome, UnknownPlace):
        return replace(
            waiting,
            ask="location",
            prompt=[{"type": "text", "text": f"What is your {outcome.name} location?"}],
            choices=[],
            narrowed=NarrowedAsk(ask=ask, place=outcome.name),
        )
    return replace(
        waiting,
        ask="choice",
        prompt=[{"type": "text", "text": outcome.question}],
        choices=[OfferedChoice(title) for title in outcome.titles],
        page=0,
        narrowed=NarrowedAsk(ask=ask, values=outcome.values),
    )
