"""Makes a test of a stored dialog: a cassette of the skills' replies, and a dialog in YAML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import yaml

from prolocutor.dialog.agent_state import hypothesis_to_state
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.ids import parse_time
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadInput
from prolocutor.plan.pipeline import Pipeline, Stage
from prolocutor.plugins.cassettes.cassette import (
    Cassette,
    Header,
    RecordedCall,
    RecordedReply,
    RecordedTurn,
)
from prolocutor.plugins.cassettes.recording import timezone_name
from prolocutor.plugins.cassettes.redaction import Redaction, plain_settings

_OF_ENGINE = ("skill_name", "annotations", "hypothesis_id")


def make_cassette(
    dialog: Dialog, pipeline: Pipeline, *, until: str | None = None, assistant: str = ""
) -> Cassette:
    """Return a stored dialog as a cassette, up to the reply `until` (an `utt_id`) if given.

    Requests to agents are not stored, so they are not compared. Raise `BadInput` for a dialog
    without words of a person.
    """
    redaction = Redaction()
    turns: list[RecordedTurn] = []
    for said, reply in _exchanges(dialog.utterances):
        turns.append(_turn(len(turns) + 1, dialog, said, reply, pipeline, redaction))
        if reply.utt_id == until:
            break
    if not turns:
        raise BadInput("nobody said anything in this conversation: there is nothing to keep")
    header = Header(assistant=assistant, at=turns[0].at, timezone=timezone_name(), complete=False)
    return Cassette(header=header, turns=turns)


def dialog_text(cassette: Cassette, name: str) -> str:
    """Return a cassette as a dialog in YAML for people to edit."""
    steps = []
    for turn in cassette.turns:
        step: JsonObject = {"say": turn.says, "reply": {"equals": turn.reply.reply}}
        if turn.reply.agent:
            step["agent"] = turn.reply.agent
        step["asks"] = turn.reply.asks or "nothing"
        steps.append(step)
    return yaml.safe_dump({name: steps}, allow_unicode=True, sort_keys=False, width=100)


def _exchanges(utterances: Sequence[Any]) -> Iterator[tuple[HumanUtterance, BotUtterance]]:
    for said, reply in pairwise(utterances):
        if isinstance(said, HumanUtterance) and isinstance(reply, BotUtterance):
            yield said, reply


def _turn(
    number: int,
    dialog: Dialog,
    said: HumanUtterance,
    reply: BotUtterance,
    pipeline: Pipeline,
    redaction: Redaction,
) -> RecordedTurn:
    written: JsonObject = {"says": said.text, "user": dialog.human.user_external_id}
    attributes = {key: attribute for key, attribute in said.attributes.items() if key != "ratings"}
    if attributes:
        written["attributes"] = plain_settings(attributes)
    asks = reply.attributes.get("ask")
    return RecordedTurn(
        number=number,
        at=parse_time(said.date_time),
        input=redaction.value(written),
        calls=[redact_call(call, redaction) for call in _calls(said, reply, pipeline)],
        reply=RecordedReply(
            reply=redaction.text(reply.text),
            agent=reply.active_skill,
            asks=asks if isinstance(asks, str) else None,
        ),
    )


def redact_call(call: RecordedCall, redaction: Redaction) -> RecordedCall:
    """Return a call without secrets."""
    call.gave = redaction.value(call.gave)
    return call


def _calls(said: HumanUtterance, reply: BotUtterance, pipeline: Pipeline) -> Iterator[RecordedCall]:
    """Return the calls that must have led to a reply."""
    given: dict[str, list[JsonObject]] = {}
    for hypothesis in said.hypotheses:
        state = hypothesis_to_state(hypothesis)
        kept = {key: value for key, value in state.items() if key not in _OF_ENGINE}
        given.setdefault(hypothesis.skill_name, []).append(kept)
    chosen = {
        "skill_name": reply.active_skill,
        "text": reply.orig_text or reply.text,
        "confidence": reply.confidence,
    }
    for stage, service in pipeline.services():
        gave: Any
        match stage:
            case Stage.ANNOTATOR:
                gave = said.annotations.get(service.label or service.name)
            case Stage.SKILL_SELECTOR:
                gave = list(given)
            case Stage.SKILL:
                gave = given.get(service.name, [])
            case Stage.RESPONSE_SELECTOR:
                gave = chosen
            case Stage.POSTPROCESSOR:
                gave = reply.text
            case _:
                gave = reply.annotations.get(service.name, {})
        yield RecordedCall(call=f"{stage}.{service.name}", gave=plain_settings(gave))
