"""The frozen record of a turn, made at its end if there are observers."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from prolocutor.assistant.journal import traceparent_of
from prolocutor.contracts.observer import ProfileChange, TurnRecord
from prolocutor.contracts.store import NewProfileVersion, ProfileVersion
from prolocutor.dialog import plain
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import legible
from prolocutor.pipeline.turn import Turn


def record_of(turn: Turn, seconds: float) -> TurnRecord:
    """Make the record of a turn that took so many seconds in all."""
    draft = turn.draft
    opened, reply = draft.opened, draft.spoken()
    said = opened.opening
    hypotheses, services = draft.hypotheses(), turn.records()
    pairing = _pairing_in(reply.attributes)
    changes: list[ProfileChange] = []
    if draft.human is not None:
        changes += _changes("person", opened.human, draft.human)
    if draft.bot is not None:
        changes += _changes("bot", opened.bot, draft.bot)
    return TurnRecord(
        turn_id=said.turn_id,
        dialog_id=opened.dialog_id,
        user=said.user,
        channel=said.channel_type,
        started=said.started,
        seconds=seconds,
        attempt=opened.attempt,
        text=said.text,
        response=reply.text,
        active_skill=reply.active_skill,
        confidence=float(reply.confidence),  # no whole number of more than 64 bits is packed
        by=reply.by,
        chosen=reply.chosen,
        asked=turn.asked_skills(),
        services=services,
        hypotheses=hypotheses,
        faults=[{**one, "what": legible(one["what"])} for one in turn.faults],
        utt_id=said.bot_utt_id,
        reasons=[{**one, "reason": _in_unicode(one["reason"])} for one in turn.reasons],
        remarks=turn.remarks,
        traceparent=traceparent_of(opened) if opened.attempt > 1 else None,
        cost=sum([one.cost for one in services]),
        scores=pairing.scores or _scores(pairing.ranked, hypotheses),
        version=_versions(legible(turn.router_version), pairing),
        changes=changes,
        offered=[one["title"] for one in reply.messages if one.get("type") in _OFFERS],
        ask=reply.ask,
        again_of=_again_of(said.attributes),
        choices=turn.choices(),
    )


_OFFERS: Final = ("button", "choice")


def _in_unicode(text: str) -> str:
    """Return a text whole, as what quotes a person stands at its end."""
    return text if text.isascii() else text.encode(errors="replace").decode()


class _InputAttributes(msgspec.Struct):
    """The attributes of an input, as far as records have them."""

    again_of: str = ""


def _again_of(attributes: bytes) -> str:
    """Return the reply whose words an input takes the place of; "" for none."""
    if b'"again_of"' in attributes:
        try:
            return msgspec.json.decode(attributes, type=_InputAttributes).again_of
        except msgspec.DecodeError:
            pass
    return ""


class _Pairing(msgspec.Struct, frozen=True):
    """What a ranker leaves in the attributes of a reply."""

    ranked: list[tuple[str, float]] = []
    scores: dict[str, float] = {}
    router: str = ""
    ranker: str = ""


class _Attributes(msgspec.Struct):
    """The attributes of a reply, as far as records have them."""

    pairing: _Pairing = msgspec.field(default_factory=_Pairing)


_DECODER: Final = msgspec.json.Decoder(_Attributes)
_NO_PAIRING: Final = _Pairing()


def _pairing_in(attributes: bytes) -> _Pairing:
    """Return what a ranker says; a skill's own attribute of that name may be anything."""
    if b'"pairing"' in attributes:
        try:
            return _DECODER.decode(attributes).pairing
        except msgspec.DecodeError:
            pass
    return _NO_PAIRING


def _scores(ranked: list[tuple[str, float]], hypotheses: list[JsonObject]) -> dict[str, float]:
    """Return probabilities by the id of the hypothesis, where each agent gave one."""
    scores: dict[str, float] = {}
    for name, probability in ranked:
        of_agent = [one for one in hypotheses if one["hypothesis_id"].rpartition(".")[0] == name]
        if of_agent:
            scores[of_agent[0]["hypothesis_id"]] = probability
    return scores


def _versions(router: str, pairing: _Pairing) -> dict[str, str]:
    versions = {"router": pairing.router or router, "ranker": pairing.ranker}
    return {role: version for role, version in versions.items() if version}


def _changes(
    whose: Literal["person", "bot"], before: ProfileVersion, after: NewProfileVersion
) -> list[ProfileChange]:
    """Return what a new version changes, each value once."""
    known, now = plain.decode(before.state), plain.decode(after.state)
    places = dict.fromkeys((change[0], change[1]) for change in after.changes)
    return [
        ProfileChange(
            whose=whose, part=part, key=key, before=_at(known, part, key), after=_at(now, part, key)
        )
        for part, key in places
    ]


def _at(state: JsonObject, part: str, key: str) -> Any:
    place = state.get(part, {}) if part else state
    return place.get(key, msgspec.UNSET) if isinstance(place, dict) else msgspec.UNSET
