"""How an answer came about: the record of a turn, or what is stored of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store import ArchiveStore
from prolocutor.dialog.agent_state import hypothesis_to_state
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance
from prolocutor.observe.reasons import without_quotes
from prolocutor.observe.recent_turns import RecentTurns

Json = dict[str, Any]

_SHOWN: Final = ("hypothesis_id", "skill_name", "text", "confidence")


class TurnExplanations:
    """Tells how the assistant came to say something, from its latest records or the store."""

    def __init__(self, archive: ArchiveStore, recent: RecentTurns | None) -> None:
        self._archive = archive
        self._recent = recent

    async def find(self, utt_id: str) -> Json | None:
        """Return the turn whose reply has this id; without services where it is long ago."""
        record = self._recent.of_reply(utt_id.lower()) if self._recent is not None else None
        if record is not None:
            return of_record(record)
        return of_stored(await self._archive.turn(utt_id.lower()))


def discreet(turn: Json) -> Json:
    """Leave out what is for operators: the words of errors, which tell of addresses and code, and
    what stands in brackets in reasons, which may quote others."""
    services = [{**one, "error": one["code"]} for one in turn["services"] or ()]
    faults = [{**one, "what": "something was wrong with its reply"} for one in turn["faults"] or ()]
    return {
        **turn,
        "services": turn["services"] and services,
        "faults": turn["faults"] and faults,
        "reasons": turn["reasons"] and [without_quotes(one) for one in turn["reasons"]],
    }


def of_record(record: TurnRecord) -> Json:
    """Show a record: all that the panel draws, and nothing of other turns."""
    return {
        "turn_id": record.turn_id,
        "utt_id": record.utt_id,
        "text": record.text,
        "response": record.response,
        "active_skill": record.active_skill,
        "confidence": record.confidence,
        "by": record.by,
        "started": record.started,
        "seconds": record.seconds,
        "attempt": record.attempt,
        "asked": record.asked,
        "chosen": record.chosen,
        "services": msgspec.to_builtins(record.services),
        "hypotheses": [_hypothesis(one) for one in record.hypotheses],
        "faults": record.faults,
        "remarks": record.remarks,
        "reasons": record.reasons,
    }


def of_stored(utterances: Sequence[HumanUtterance | BotUtterance]) -> Json | None:
    """Show what is stored of a turn: the services' times and faults are not."""
    said = utterances[-1] if utterances else None
    if not isinstance(said, BotUtterance):
        return None
    asked = utterances[0] if isinstance(utterances[0], HumanUtterance) else None
    hypotheses = asked.hypotheses if asked is not None else []
    return {
        "turn_id": None,
        "utt_id": said.utt_id,
        "text": asked.text if asked is not None else "",
        "response": said.text,
        "active_skill": said.active_skill,
        "confidence": said.confidence,
        "by": None,
        "started": None,
        "seconds": None,
        "attempt": None,
        "asked": sorted({one.skill_name for one in hypotheses}),
        "chosen": [
            one.hypothesis_id
            for one in hypotheses
            if (one.skill_name, one.text) == (said.active_skill, said.orig_text or said.text)
        ][:1],
        "services": None,
        "hypotheses": [_hypothesis(hypothesis_to_state(one)) for one in hypotheses],
        "faults": None,
        "remarks": None,
        "reasons": None,
    }


def _hypothesis(state: Json) -> Json:
    return {key: state.get(key) for key in _SHOWN}
