"""CassetteRecorder: wraps the connectors of an assistant, and records their calls."""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any, Final, Protocol

import msgspec

from prolocutor.assistant.turn_result import TurnResult
from prolocutor.connectors.connector_catalog import find_connector_name
from prolocutor.contracts.connector import Connector, DeltaSink, Replies, Request
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.plain import JsonObject, Plain, PlainItems, encode
from prolocutor.errors import BadInput, ProlocutorError, ServiceError, ServiceRefused
from prolocutor.plan.pipeline import STAGE_TYPES, Call, PendingTarget, Pipeline, Stage, StageService
from prolocutor.plugins.cassettes.cassette import (
    SUFFIX,
    CassetteWriter,
    Header,
    RecordedCall,
    RecordedReply,
    RecordedTurn,
)
from prolocutor.plugins.cassettes.redaction import SECRET, Mask, Names, Redaction, plain_settings

log = logging.getLogger(__name__)

MOST_TURNS: Final = 1000
"""Turns whose calls are kept while they run; calls of others, such as talks alone, are not."""

TURN_IN_CALL: Final[ContextVar[str]] = ContextVar("turn_in_call", default="")
"""The turn for which a service of our own process is asked, for the models that it asks itself."""

_LEFT_OUT: Final = ("text", "request_id", "retold")

_DIGITS: Final = re.compile(r"\d{1,6}")

MODELS: Final = "models"
"""The stage, in cassettes, of models that are not services."""

_LAST: Final = Stage.LAST_CHANCE


class CassetteRecorder:
    """Records every conversation of an assistant in a separate file.

    The first conversation goes to `path`, the next ones to files beside it (`tea-2.cassette`); a
    folder gets all of them. With `together` the turns of all people go to the same file. An
    existing file is an error, unless `anew`.
    """

    def __init__(
        self,
        path: Path,
        *,
        anew: bool = False,
        together: bool = False,
        redaction: Redaction | None = None,
    ) -> None:
        self.written: list[Path] = []
        """The files, in the order in which the conversations began."""
        self.left_out: set[str] = set()
        """The persons of dialogs that had begun before, or who were known from others."""
        self._path = path
        self._anew = anew
        self._together = together
        self._redaction = redaction or Redaction()
        self._settings = ServiceFacts(self._redaction)
        self._calls: dict[str, list[PendingCall]] = {}
        self._conversations: dict[tuple[str, str], _Conversation] = {}
        if path.exists() and not path.is_dir() and not anew:
            raise BadInput(f"{path} exists; name another file, or record it anew by --anew")

    def begin(self, name: str, pipeline: Pipeline, file: Path | None = None) -> None:
        """Record the services of the assistant."""
        self._settings.add(name, pipeline, file)

    def connect(self, service: StageService, make: Callable[[], Connector]) -> Connector:
        """Return a connector that records the calls of a service's own connector."""
        connector = RecordedConnector(self, service_key(service), make())
        self._settings.add_format(service_key(service), connector.format)
        return connector

    def endpoint(self, name: str, call: Call, verb: str, make: Callable[[], Any]) -> Any:
        """Return an endpoint to record the calls of another endpoint."""
        self._settings.add_endpoint(name, call)
        return RecordedEndpoint(self, f"{MODELS}.{name}", verb, make())

    def follow(self, input: TurnInput, turn: asyncio.Future[TurnResult]) -> None:
        """Write the turn after its end."""
        at, began = time.time(), monotonic()
        turn.add_done_callback(lambda done: self._turn_over(input, at, began, done))

    def keep(self, header: Header, path: Path) -> None:
        """Keep people's entries in the header of an earlier cassette, which lies at a path."""
        self._settings.keep(header, path)

    def note(self, turn_id: str, call: PendingCall) -> None:
        """Keep a call until the end of its turn."""
        if len(self._calls) >= MOST_TURNS and turn_id not in self._calls:
            del self._calls[next(iter(self._calls))]
        self._calls.setdefault(turn_id, []).append(call)

    def _turn_over(
        self, input: TurnInput, at: float, began: float, done: asyncio.Future[TurnResult]
    ) -> None:
        if done.cancelled() or isinstance(done.exception(), ProlocutorError):
            return  # it was refused, and changed nothing
        try:
            result = done.result()
            calls = self._calls.pop(result.turn_id, [])
            if not result.repeated:
                self._write(input, at, began, result, calls)
        except Exception:
            log.exception("a turn of %s could not be recorded", input.user)

    def _write(
        self,
        input: TurnInput,
        at: float,
        began: float,
        result: TurnResult,
        calls: list[PendingCall],
    ) -> None:
        key = ("", "") if self._together else (input.user, result.dialog_id)
        talk = self._conversations.get(key)
        if talk is None:
            if not self._together and _has_begun(calls):
                if input.user not in self.left_out:
                    log.warning(
                        "a dialog of %s is left out: it began before the recording, or the person"
                        " is remembered from another one; talk as somebody else",
                        input.user,
                    )
                self.left_out.add(input.user)
                return
            talk = self._conversations[key] = self._conversation(at)
        talk.write(input, at, began, result, calls)

    def _conversation(self, at: float) -> _Conversation:
        number, path = len(self._conversations) + 1, self._path
        if path.is_dir() or not path.suffix:
            path = path / f"{number:03d}{SUFFIX}"
        elif number > 1:
            path = path.with_name(f"{path.stem}-{number}{path.suffix}")
        if path.exists() and not self._anew:
            path = next(_free(path))
        self.written.append(path)
        header = self._settings.header(at, path)
        return _Conversation(CassetteWriter(path, header), self._redaction)


def _free(path: Path) -> Iterator[Path]:
    for number in range(2, 1_000_000):
        other = path.with_name(f"{path.stem}-{number}{path.suffix}")
        if not other.exists():
            yield other


def _has_begun(calls: Sequence[PendingCall]) -> bool:
    """Return whether an agent state contains more than the person's first words.

    Such a conversation cannot be replayed, because a replay begins with an empty store.
    """
    states = [plain.decode(call.body) for call in calls[:20]]
    return any(
        len(state["human_utterances"]) > 1
        or bool(state.get("bot_utterances"))
        or bool((state.get("human") or {}).get("attributes"))
        for state in states
        if isinstance(state, dict) and isinstance(state.get("human_utterances"), list)
    )


class _Conversation:
    """A dialog during its recording."""

    def __init__(self, writer: CassetteWriter, redaction: Redaction) -> None:
        self._writer = writer
        self._redaction = redaction
        self._mask = Mask(redaction, Names())
        self._number = 0
        self._secret = False

    def write(
        self,
        input: TurnInput,
        at: float,
        began: float,
        result: TurnResult,
        calls: Sequence[PendingCall],
    ) -> None:
        self._number += 1
        know_ids(self._mask.names, result, self._number)
        if self._secret:
            self._redaction.know(input.text)
        for call in calls:
            self._redaction.answers(plain.decode(call.body))
        reply = recorded_reply(result, self._mask)
        turn = RecordedTurn(
            number=self._number,
            at=round(at, 3),
            input=self._mask.redaction.value(written_input(input, secret=self._secret)),
            calls=[call.to_recorded_call(self._mask, began) for call in calls],
            reply=reply,
        )
        self._secret = reply.asks == "password"
        self._writer.append(turn)


def know_ids(names: Names, result: TurnResult, number: int) -> None:
    """Give the ids of a turn names with its number."""
    names.know_dialog(result.dialog_id)
    names.know(result.turn_id, f"turn {number}")
    names.know(result.human_utt_id, f"said {number}")
    names.know(str(result.state.get("utt_id") or ""), f"reply {number}")


def recorded_reply(result: TurnResult, mask: Mask) -> RecordedReply:
    """Return the parts of a reply that a replay compares."""
    reply, record = result.reply, result.record
    messages = (result.state.get("attributes") or {}).get("messages") or []
    changes: JsonObject = {}
    for change in record.changes if record is not None else ():
        key = ".".join(filter(None, (change.whose, change.part, change.key)))
        changes[key] = None if change.after is msgspec.UNSET else change.after
    failures = () if record is None else [service for service in record.services if service.failed]
    found = RecordedReply(
        reply=reply.text,
        agent=reply.active_skill,
        by="" if record is None else record.by,
        asks=result.ask,
        messages=messages if _is_rich(messages) else [],
        attributes=changes,
        failed={
            f"{failure.stage}.{failure.name}": failure.code or failure.outcome
            for failure in failures
        },
    )
    masked = plain.decode(mask.names.mask_ids(encode(found)))
    return msgspec.convert(mask.redaction.value(masked), RecordedReply)


def _is_rich(messages: Sequence[JsonObject]) -> bool:
    return len(messages) > 1 or any(message.get("type") != "text" for message in messages)


def written_input(input: TurnInput, *, secret: bool = False) -> JsonObject:
    """Return a person's input in the form of a cassette, without default values."""
    written: JsonObject = {"says": SECRET if secret else input.text}
    usual = TurnInput("", "")
    for field in TurnInput.__struct_fields__:
        value = getattr(input, field)
        if field not in _LEFT_OUT and value != getattr(usual, field):
            written[field] = SECRET if secret and field == "parsed" else msgspec.to_builtins(value)
    return written


class PendingCall:
    """A call during its recording: its request, its start, and its outcome."""

    def __init__(self, key: str, piece: str, body: bytes) -> None:
        self.key = key
        self.piece = piece
        self.body = body
        self.began = monotonic()
        self.took: float | None = None
        self.chunks: list[tuple[float, str | None]] = []
        self.outcome: Any = None

    def end(self, outcome: Any) -> None:
        """Record the outcome: a reply as JSON, an error, or None if nobody waits."""
        self.took = monotonic() - self.began
        self.outcome = outcome

    def to_recorded_call(self, mask: Mask, began: float) -> RecordedCall:
        """Return the call as recorded; `began` is the start of the turn by the monotonic clock."""
        took = monotonic() - self.began if self.took is None else self.took
        call = RecordedCall(
            call=self.key,
            piece=self.piece,
            asked=mask.request(self.body),
            after=round(max(0.0, self.began - began), 4),
            took=round(took, 4),
            chunks=[
                (round(at, 4), text if text is None else mask.redaction.text(text))
                for at, text in self.chunks
            ],
        )
        if isinstance(self.outcome, ServiceError):
            call.failed = mask.redaction.value(failure_members(self.outcome))
        elif self.outcome is not None:
            call.gave = mask.reply(self.outcome[0])
        return call


def failure_members(error: ServiceError) -> JsonObject:
    """Return an error in the form of a cassette."""
    members: JsonObject = {"kind": type(error).__name__, "what": str(error)}
    if isinstance(error, ServiceRefused):
        members["status"] = error.status
    return members


class _NotedDeltas:
    """Records the words that a connector streams."""

    def __init__(self, call: PendingCall, sink: DeltaSink) -> None:
        self._call = call
        self._sink = sink

    def add(self, text: str, confidence: float | None = None) -> None:
        self._call.chunks.append((monotonic() - self._call.began, text))
        self._sink.add(text, confidence)

    def restart(self) -> None:
        self._call.chunks.append((monotonic() - self._call.began, None))
        self._sink.restart()


class CallNotes(Protocol):
    """Keeps the calls of turns."""

    def note(self, turn_id: str, call: PendingCall) -> None:
        """Add a call that has begun."""


class RecordedConnector:
    """A connector that records the calls of another, and does not change them."""

    def __init__(self, recorder: CallNotes, key: str, inner: Connector) -> None:
        self._recorder = recorder
        self._key = key
        self._inner = inner
        self._is_foreign = not type(inner).__module__.startswith("prolocutor.")
        self.gathers_batches = bool(getattr(inner, "gathers_batches", False))
        self.format = str(getattr(inner, "format", "plain"))
        answer = getattr(inner, "answer", None)
        self.answer = None if answer is None else self._answer
        self._ask_inner: Any = answer

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Call the service, and record the call."""
        calls = [self._begun(request) for request in requests]
        noted = [_noting(*one) for one in zip(requests, calls, strict=True)]
        token = TURN_IN_CALL.set(requests[0].turn_id)
        try:
            replies = await self._inner.send(noted)
        except BaseException as error:
            for call in calls:
                call.end(error if isinstance(error, ServiceError) else None)
            raise
        finally:
            TURN_IN_CALL.reset(token)
        if self._is_foreign:  # the engine checks the replies of foreign connectors, not ours
            replies = [_check_reply(reply) for reply in replies]
        for call, reply in zip(calls, replies, strict=False):
            call.end(_outcome(reply))
        return replies

    async def aclose(self) -> None:
        """Close the service's connector."""
        await self._inner.aclose()

    def _answer(self, request: Request) -> Plain | ServiceError:
        call = self._begun(request)
        token = TURN_IN_CALL.set(request.turn_id)
        try:
            reply: Plain | ServiceError = self._ask_inner(request)
        finally:
            TURN_IN_CALL.reset(token)
        call.end(_outcome(reply))
        return reply

    def _begun(self, request: Request) -> PendingCall:
        call = PendingCall(self._key, find_piece(request), request.body())
        self._recorder.note(request.turn_id, call)
        return call


class RecordedEndpoint:
    """An endpoint that records the calls of another, such as a router's model."""

    def __init__(self, recorder: CassetteRecorder, key: str, verb: str, inner: Any) -> None:
        self._recorder = recorder
        self._key = key
        self._inner = inner
        self._ask = getattr(inner, verb)
        setattr(self, verb, self._record)

    async def aclose(self) -> None:
        """Close the endpoint."""
        await self._inner.aclose()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def _record(self, asked: Any) -> Any:
        call = PendingCall(self._key, "", endpoint_body(asked))
        if turn_id := TURN_IN_CALL.get():
            self._recorder.note(turn_id, call)
        try:
            given = await self._ask(asked)
        except BaseException as error:
            call.end(error if isinstance(error, ServiceError) else None)
            raise
        call.end((given,))
        return given


def endpoint_body(asked: Any) -> bytes:
    """Return the request to an endpoint as JSON: a request's body, or texts."""
    return asked.body() if hasattr(asked, "body") else encode(asked)


def _outcome(reply: Any) -> Any:
    if isinstance(reply, ServiceError):
        return reply
    if isinstance(reply, PlainItems):
        return ([item.value if isinstance(item, Plain) else None for item in reply.items],)
    if isinstance(reply, Plain):
        return (plain.decode(reply.encoded),)
    return ServiceError("its connector gave no reply")


def _check_reply(reply: Any) -> Plain | ServiceError:
    try:
        return reply if isinstance(reply, ServiceError) else plain.check(reply.value)
    except ServiceError as error:
        return error
    except Exception as error:
        return ServiceError(f"its connector gave no JSON: {type(error).__name__}")


def _noting(request: Any, call: PendingCall) -> Any:
    """Return the request with deltas that are recorded."""
    if request.deltas is None:
        return request
    noted = _NotedDeltas(call, request.deltas)
    if isinstance(request, msgspec.Struct):
        return msgspec.structs.replace(request, deltas=noted)
    request = copy.copy(request)
    request.deltas = noted
    return request


def find_piece(request: Request) -> str:
    """Return the number of a call's piece, which tells a service's calls in a turn apart, or ""."""
    rest = request.key.rpartition("/")[2]
    return rest if _DIGITS.fullmatch(rest) and rest != request.service else ""


def service_key(service: StageService) -> str:
    """Return `stage.name`."""
    stage = next(stage for stage, kind in STAGE_TYPES.items() if isinstance(service, kind))
    return f"{stage}.{service.name}"


class ServiceFacts:
    """The targets of the services, for the header of a cassette."""

    def __init__(self, redaction: Redaction) -> None:
        self.services: dict[str, JsonObject] = {}
        self.cards: dict[str, JsonObject] = {}
        self._redaction = redaction
        self._name = "assistant"
        self._file: Path | None = None
        self._written: set[str] = set()
        self._own_cards: dict[str, JsonObject] = {}
        self._earlier: tuple[Header, Path] | None = None

    def add(self, name: str, pipeline: Pipeline, file: Path | None = None) -> None:
        """Add an assistant's services; settings of its file win over settings at run time."""
        self._name, self._file = name, file or self._file
        services = [(f"{stage}.{one.name}", one) for stage, one in pipeline.services()]
        services += [
            (f"{Stage.LAST_CHANCE}.{one.name}", one) for one in pipeline.services_at(_LAST)
        ]
        for key, service in services:
            if key not in self._written:
                self.services[key] = self._redaction.value(service_facts(service))
                self._written.add(key)
        for skill in pipeline.services_at(Stage.SKILL):
            card = plain_settings(skill.card_members)
            if self._own_cards.setdefault(skill.name, card) != card:
                self.cards[skill.name] = card

    def add_format(self, key: str, format: str) -> None:
        """Add the text format of a service, unless it is plain."""
        if format != "plain" and key in self.services:
            self.services[key]["format"] = format

    def add_endpoint(self, name: str, call: Call) -> None:
        """Add a model that is not a service."""
        self.services[f"{MODELS}.{name}"] = self._redaction.value(_address(call))

    def keep(self, header: Header, path: Path) -> None:
        """Keep the members that people wrote into the earlier header of a cassette."""
        self._earlier = header, path

    def header(self, at: float, path: Path) -> Header:
        """Return the header of a cassette at a path."""
        header, path = self._earlier or (Header(), path)
        return msgspec.structs.replace(
            header,
            complete=True,
            assistant="" if self._file is None else os.path.relpath(self._file, path.parent),
            name=self._name,
            at=round(at, 3),
            timezone=timezone_name(),
            version=version("prolocutor"),
            services=self.services,
            cards=self.cards,
        )


def service_facts(service: StageService) -> JsonObject:
    """Return the target of a service and its time-out in seconds.

    `here`: it is a function in our own process; `inline`: a function that never waits.
    """
    facts = {**_address(service.call), "within": service.timeout}
    if is_own(service):
        facts["here"] = True
    if service.call.options.get("inline") or getattr(service.call.target, "inline", False):
        facts["inline"] = True
    return facts


def is_own(service: StageService) -> bool:
    """Return whether a service is part of the assistant: a built-in selector, a Python function."""
    call = service.call
    if isinstance(call.target, PendingTarget):
        return hasattr(call.target, "stage")
    return find_connector_name(call) in ("python", None) and not call.options.get("process")


def _address(call: Call) -> JsonObject:
    target = call.target
    address: JsonObject = {}
    if (connector := find_connector_name(call)) is not None:
        address["connector"] = connector
    if isinstance(target, msgspec.Struct):
        address |= {"to": type(target).__name__, **plain_settings(target)}
    elif target != "":
        address["to"] = plain_settings(target)
    options = {key: plain_settings(option) for key, option in call.options.items()}
    options.pop("folder", None)
    return {**address, **options}


def timezone_name() -> str:
    """Return the name of the server's time zone."""
    if zone := os.environ.get("TZ"):
        return zone
    try:
        place = os.readlink("/etc/localtime")
    except OSError:
        return time.strftime("%z") if time.localtime().tm_gmtoff else "UTC"
    return place.rpartition("zoneinfo/")[2] or "UTC"
