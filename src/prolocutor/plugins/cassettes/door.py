"""The door of tests: operators keep stored conversations as tests, in the console."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import msgspec
import yaml

from prolocutor.bounds import about
from prolocutor.contracts.channel import Channel, Route
from prolocutor.dialog.agent_state import hypothesis_to_state
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.ids import DialogId, parse_time
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadInput, NotFound
from prolocutor.plan.pipeline import Pipeline, Stage
from prolocutor.plugins.cassettes.cassette import (
    SUFFIX,
    Cassette,
    CassetteWriter,
    Header,
    RecordedCall,
    RecordedReply,
    RecordedTurn,
)
from prolocutor.plugins.cassettes.recording import timezone_name
from prolocutor.plugins.cassettes.redaction import Redaction, plain_settings
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest

PATH: Final = "/api/console/tests"
_SAFE: Final = re.compile(r"[^\w-]+")

_OF_ENGINE = ("skill_name", "annotations", "hypothesis_id")


class TestToKeep(msgspec.Struct, frozen=True, kw_only=True):
    """The dialog to keep as a test, to its end or to a reply; `name` is the name of the file."""

    __test__: ClassVar[bool] = False  # it is not a test of pytest's

    dialog_id: str = ""
    utt_id: str = ""
    name: str = ""


class KeptTest(msgspec.Struct, frozen=True, kw_only=True):
    """A test: its file (None if the browser keeps it), the cassette, the dialog in YAML."""

    name: str
    file: str | None
    turns: int
    cassette: str
    yaml: str


class TestFolder(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of tests, or None if the browser keeps them."""

    __test__: ClassVar[bool] = False

    folder: str | None


class TestsDoor(msgspec.Struct, frozen=True, kw_only=True):
    """Stored conversations become tests, for operators, at `/api/console/tests`."""

    is_usual: ClassVar[bool] = True
    operators_data: ClassVar[str] = PATH

    folder: Annotated[
        str | None,
        about(
            "The folder of tests, relative to the file's folder; by default the browser "
            "keeps tests."
        ),
    ] = None

    def build(self, context: DoorContext) -> Channel:
        """Return the door."""
        return KeptTests(context, self.folder)


class KeptTests:
    """Makes tests of stored conversations of an assistant."""

    name: Final = "tests"
    prefix: Final = "tests:"

    def __init__(self, context: DoorContext, folder: str | None) -> None:
        self._assistant = context.assistant
        self._base = Path(context.folder)
        self._folder = None if folder is None else self._base / folder
        keep = OperatorWrite(self.keep_test, errors=[NotFound, BadInput])
        self.routes = [
            Route("GET", PATH, Operation(self.show_folder), "operators"),
            Route("POST", PATH, keep, "operators"),
        ]

    async def show_folder(self, request: TypedRequest[None, None]) -> TestFolder:
        """Return the folder of tests."""
        return TestFolder(folder=None if self._folder is None else str(self._folder))

    async def keep_test(self, request: TypedRequest[None, TestToKeep]) -> KeptTest:
        """Keep a stored conversation as a test."""
        body = request.body
        dialog = await self._dialog(body)
        until = body.utt_id.lower() or None
        name = _SAFE.sub("-", body.name).strip("-")[:80] or f"kept-{dialog.dialog_id[:12]}"
        return self._kept(dialog, until, name)

    async def _dialog(self, body: TestToKeep) -> Dialog:
        store, found = self._assistant.store, body.dialog_id
        if not found and body.utt_id:
            recorder = self._assistant.records.recorder
            if recorder is None:
                raise NotFound("this assistant keeps no records of turns: name the dialog_id")
            await recorder.settle()
            kept = await recorder.store.turn(body.utt_id.lower())
            found = "" if kept is None else kept.dialog_id
        dialog = await store.dialog(DialogId(found)) if found else None
        if dialog is None:
            raise NotFound("there is no such conversation; name a dialog_id or an utt_id")
        return dialog

    def _kept(self, dialog: Dialog, until: str | None, name: str) -> KeptTest:
        pipeline = self._assistant.engine.prepared.graph.pipeline
        cassette = make_cassette(dialog, pipeline, until=until)
        folder = self._folder or self._base
        lines = CassetteWriter.file_content(cassette)
        file: Path | None = None
        if self._folder is not None:
            file = folder / f"{name}{SUFFIX}"
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh = file.with_name(f"{file.name}.new")
            fresh.write_bytes(lines)
            os.replace(fresh, file)
        return KeptTest(
            name=name,
            file=None if file is None else str(file),
            turns=len(cassette.turns),
            cassette=lines.decode(),
            yaml=dialog_text(cassette, name),
        )


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
    utterance: HumanUtterance,
    reply: BotUtterance,
    pipeline: Pipeline,
    redaction: Redaction,
) -> RecordedTurn:
    written: JsonObject = {"says": utterance.text, "user": dialog.human.user_external_id}
    attributes = {
        key: attribute for key, attribute in utterance.attributes.items() if key != "ratings"
    }
    if attributes:
        written["attributes"] = plain_settings(attributes)
    asks = reply.attributes.get("ask")
    return RecordedTurn(
        number=number,
        at=parse_time(utterance.date_time),
        input=redaction.value(written),
        calls=[redact_call(call, redaction) for call in _calls(utterance, reply, pipeline)],
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


def _calls(
    utterance: HumanUtterance, reply: BotUtterance, pipeline: Pipeline
) -> Iterator[RecordedCall]:
    """Return the calls that must have led to a reply."""
    given: dict[str, list[JsonObject]] = {}
    for hypothesis in utterance.hypotheses:
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
                gave = utterance.annotations.get(service.label or service.name)
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
