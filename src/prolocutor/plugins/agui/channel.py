"""AgUi: the door for AG-UI clients at `POST /agui` (AG-UI 1.0, events over SSE)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.asks.answer_forms import GivenAnswer, answer_schema, question
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.contracts.observer import FAILURES
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.dialog.turn_events import (
    Delta,
    Replaced,
    ReplyGiven,
    ServiceAsked,
    ServiceSettled,
    StageEnded,
    StageStarted,
    TurnEvent,
    TurnStarted,
)
from prolocutor.errors import Conflict, Forbidden, NotFound
from prolocutor.plugins.agui.run_input import RUN, STATE, RunAgentInput
from prolocutor.web.door_context import USER_HEADER, DoorContext, DoorPersons
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import batches, begun, event_stream, server_event
from prolocutor.web.operations import IdempotencyKey, Operation, TypedRequest

PROTOCOL_VERSION: Final = "1.0"
SKILLS: Final = "skills"

_OPERATION: Final = b'{"op":"add","path":%b,"value":%b}'
_SUBAGENT: Final = b'data: {"type":"SUBAGENT_%b","subagentRunId":%b%b}\n\n'

PERSONS: Final = DoorPersons("agui:", unnamed=None)

_UNGUESSABLE: Final = re.compile(r"[\w-]{32,}")


class RunEvents:
    """Writes the events of a run; `descriptions` are the skills' descriptions by name."""

    def __init__(self, asked: RunAgentInput, descriptions: Mapping[str, str]) -> None:
        self._asked = asked
        self._descriptions = descriptions
        self._turn_id = asked.run_id
        self._said = ""
        self._changes: dict[str, bytes] = {}
        self._messages = 0
        self._is_open = False
        self._is_void = False

    def begin(self) -> bytes:
        """Write the start of the run."""
        started: JsonObject = {
            "threadId": self._asked.thread_id,
            "runId": self._asked.run_id,
            "protocolVersion": PROTOCOL_VERSION,
        }
        if self._asked.parent_run_id:
            started["parentRunId"] = self._asked.parent_run_id
        return event("RUN_STARTED", started)

    def nothing(self) -> bytes:
        """Write the end of a run without words of a person."""
        return self._finish_run(None, {"type": "success"})

    def failure(self, error: Exception) -> bytes:
        """Write the end of a failed run."""
        refused = error_response(error)
        return event("RUN_ERROR", {"message": refused.error, "code": refused.code})

    def write(self, happened: Sequence[TurnEvent]) -> bytes:
        """Write some events of the turn, with a single change of the state."""
        pieces = [self._write_event(one) for one in happened]
        if not self._changes:
            return b"".join(pieces)
        delta = b'data: {"type":"STATE_DELTA","delta":[%b]}\n\n' % b",".join(self._changes.values())
        self._changes = {}
        last = len(pieces) - isinstance(happened[-1], ReplyGiven)
        return b"".join([*pieces[:last], delta, *pieces[last:]])

    def _write_event(self, happened: TurnEvent) -> bytes:
        match happened:
            case TurnStarted():
                return self._snapshot(happened)
            case StageStarted():
                return b'data: {"type":"STEP_STARTED","stepName":%b}\n\n' % json_name(
                    happened.stage
                )
            case StageEnded():
                return b'data: {"type":"STEP_FINISHED","stepName":%b}\n\n' % json_name(
                    happened.stage
                )
            case ServiceAsked():
                return self._service_asked(happened)
            case ServiceSettled():
                return self._service_settled(happened)
            case Delta():
                return self._words(happened.text)
            case Replaced():
                return self._close_withdrawn()
            case ReplyGiven():
                return self._reply(happened)

    # -- who is asked --------------------------------------------------------------------------

    def _snapshot(self, started: TurnStarted) -> bytes:
        self._turn_id = started.turn_id
        own = {"dialogId": started.dialog_id, "turnId": started.turn_id, "services": {}}
        given = self._asked.state if isinstance(self._asked.state, dict) else {}
        return event("STATE_SNAPSHOT", {"snapshot": {**given, STATE: own}})

    def _service_asked(self, asked: ServiceAsked) -> bytes:
        name = asked.service
        now = b'{"stage":%b,"state":"asked"}' % json_name(asked.stage)
        self._changes[name] = _OPERATION % (_place(name), now)
        if asked.stage != SKILLS:
            return b""
        told = b""
        if description := self._descriptions.get(name):
            told = b',"description":%b' % json_name(description)
        return _SUBAGENT % (
            b"STARTED",
            self._subagent_run(name),
            b',"name":%b%b' % (json_name(name), told),
        )

    def _service_settled(self, settled: ServiceSettled) -> bytes:
        name, outcome, seconds = settled.service, settled.outcome, b"%.3f" % settled.seconds
        now = b'"%b","seconds":%b}' % (outcome.encode(), seconds)
        state = b'{"stage":%b,"state":%b' % (json_name(settled.stage), now)
        self._changes[name] = _OPERATION % (_place(name), state)
        if settled.stage != SKILLS:
            return b""
        if outcome in FAILURES:
            what = b"it did not answer in time" if outcome == "late" else b"it failed"
            told = b',"message":"%b","code":"%b"' % (what, outcome.encode())
            return _SUBAGENT % (b"ERROR", self._subagent_run(name), told)
        return _SUBAGENT % (b"FINISHED", self._subagent_run(name), b',"result":{"outcome":' + now)

    def _subagent_run(self, service: str) -> bytes:
        return encode(f"{self._turn_id}/{service}")

    # -- what is said --------------------------------------------------------------------------

    def _words(self, text: str) -> bytes:
        if not text:
            return b""
        begun = b""
        if not self._is_open:
            self._is_open = True
            told = {"messageId": self._message_id, "role": "assistant"}
            begun = event("TEXT_MESSAGE_START", told)
        self._said += text
        told = {"messageId": self._message_id, "delta": text}
        return begun + event("TEXT_MESSAGE_CONTENT", told)

    def _close_withdrawn(self) -> bytes:
        """Close the message with withdrawn words; the next words belong to a new message."""
        ended = self._end_message()
        self._is_void = self._is_void or bool(self._said)
        self._said = ""
        self._messages += 1
        return ended

    def _end_message(self) -> bytes:
        if not self._is_open:
            return b""
        self._is_open = False
        return event("TEXT_MESSAGE_END", {"messageId": self._message_id})

    @property
    def _message_id(self) -> str:
        number = f"-{self._messages}" if self._messages else ""
        return f"{self._turn_id}{number}"

    def _reply(self, given: ReplyGiven) -> bytes:
        """Write the rest of the words, the parts beside text, and the end of the run."""
        if given.turn_id:
            self._turn_id = self._turn_id if self._said or self._messages else given.turn_id
        spoken = given.utterance
        text = spoken.text or said_as_text(spoken.text, spoken.attributes)
        pieces = []
        if not text.startswith(self._said):
            pieces.append(self._close_withdrawn())
        pieces.append(self._words(text[len(self._said) :]))
        pieces.append(self._end_message())
        if self._is_void:
            pieces.append(self._messages_again(text))
        pieces += [event("CUSTOM", custom) for custom in _customs(spoken)]
        waiting = given.waiting
        outcome: JsonObject = {"type": "success"}
        if waiting is not None:
            outcome = {"type": "interrupt", "interrupts": [_interrupt(waiting, spoken)]}
        pieces.append(self._finish_run(given, outcome))
        return b"".join(pieces)

    def _messages_again(self, text: str) -> bytes:
        """Write all messages, without the message of withdrawn words."""
        messages = self._asked.messages
        kept = [
            {**message, "id": message.get("id") or f"m{n}"} for n, message in enumerate(messages)
        ]
        said = {"id": self._message_id, "role": "assistant", "content": text}
        return event("MESSAGES_SNAPSHOT", {"messages": [*kept, said]})

    def _finish_run(self, given: ReplyGiven | None, outcome: JsonObject) -> bytes:
        told: JsonObject = {
            "threadId": self._asked.thread_id,
            "runId": self._asked.run_id,
            "outcome": outcome,
        }
        if given is not None:
            spoken = given.utterance
            result: JsonObject = {
                "text": spoken.text,
                "skill": spoken.active_skill,
                "confidence": spoken.confidence,
                "uttId": spoken.utt_id,
                "dialogId": given.dialog_id,
            }
            if (handover := spoken.attributes.get("handover")) is not None:
                result["handover"] = handover
            told["result"] = result
        return event("RUN_FINISHED", told)


@lru_cache(maxsize=1024)
def json_name(text: str) -> bytes:
    """Return a recurring text, such as a name, as JSON; results are cached."""
    return encode(text)


@lru_cache(maxsize=1024)
def _place(service: str) -> bytes:
    """Return the JSON pointer to a service in the state, as JSON."""
    name = service.replace("~", "~0").replace("/", "~1")
    return encode(f"/{STATE}/services/{name}")


def event(type_: str, members: JsonObject) -> bytes:
    """Write one event."""
    return server_event(encode({"type": type_, **members}))


def _customs(spoken: BotUtterance) -> list[JsonObject]:
    """Return the parts of a reply beside text: buttons, links, cards, pictures, choices."""
    messages = spoken.attributes.get("messages")
    found: list[Any] = messages if isinstance(messages, list) else []
    return [
        {"name": one["type"], "value": one}
        for one in found
        if isinstance(one, dict) and isinstance(one.get("type"), str) and one["type"] != "text"
    ]


def _interrupt(waiting: PendingAsk, spoken: BotUtterance) -> JsonObject:
    return {
        "id": spoken.utt_id,
        "reason": "input_required",
        "message": question(waiting),
        "responseSchema": answer_schema(waiting),
        "metadata": {"ask": waiting.ask, "skill": waiting.skill},
    }


class AgUiParams(msgspec.Struct, frozen=True):
    """The parameters of a run."""

    user: Annotated[str | None, Meta(description="The user for whom an operator speaks.")] = None
    header_user: Annotated[
        str | None,
        Meta(description="The same, in place of `user`.", extra={"in": "header"}),
    ] = msgspec.field(default=None, name=USER_HEADER)
    skill: Annotated[str | None, Meta(description="The skill to talk to alone.")] = None
    idempotency_key: IdempotencyKey = msgspec.field(default=None, name="Idempotency-Key")


class AgUiDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The assistant as an AG-UI agent at `POST /agui`."""

    is_usual: ClassVar[bool] = True

    def build(self, context: DoorContext) -> AgUi:
        """Return the door."""
        return AgUi(context.assistant)


class AgUi:
    """The assistant as an AG-UI agent; a thread is a dialog, a run is a turn.

    The owner of a token is that person. An operator speaks for the user of `?user=NAME`, of a
    header or of `forwardedProps`; without a user each thread is a separate person. An anonymous
    visitor is known by the id of the thread, which must be unguessable. An ask is an interrupt,
    which `resume` of the next run answers.
    """

    name: Final = "agui"
    prefix: Final = PERSONS.prefix

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        cards = {
            service.name: service.card or {}
            for service in assistant.services()
            if service.stage == SKILLS
        }
        self._descriptions = {
            name: card["description"]
            for name, card in cards.items()
            if isinstance(card.get("description"), str)
        }
        operation = Operation(
            self.run_agent, returns=None, produces="text/event-stream", errors=[Conflict, NotFound]
        )
        self.routes = [Route("POST", "/agui", operation, any_secret=True)]

    async def run_agent(self, request: TypedRequest[AgUiParams, RunAgentInput]) -> HttpResponse:
        """Run a turn, and stream it as the events of AG-UI."""
        asked, params = request.body, request.params
        named = (params.user, params.header_user, asked.user)
        user = speaker(request.visitor, asked.thread_id, *named)
        events = RunEvents(asked, self._descriptions)
        if asked.resume:
            await self._check_open(user, asked, asked.resume[-1].interrupt_id)
        answer = asked.find_answer()
        if answer is None:
            return event_stream(_once(events.begin() + events.nothing()), events.failure)
        stream = self._stream(user, answer, asked, params)
        # What is wrong with the request is known by the first event, and then no stream begins.
        happened = await begun(stream)
        return event_stream(_write_events(events, stream, happened), events.failure)

    async def _check_open(self, user: str, run_input: RunAgentInput, id_: str) -> None:
        """Raise `Conflict` or `NotFound` for an interrupt that is not open in a thread.

        A repeated run that answered it before gets the stored reply.
        """
        store = self._assistant.store
        dialog_id = await store.active_dialog_id(user, run_input.thread_id)
        dialog = None if dialog_id is None else await store.dialog(dialog_id)
        said = [] if dialog is None else dialog.utterances
        place = next((n for n, one in enumerate(said) if one.utt_id == id_), None)
        if place is None or not isinstance(said[place], BotUtterance):
            raise NotFound(f"there is no interrupt {id_!r} in this thread", field="resume")
        answer = next((one for one in said[place:] if isinstance(one, HumanUtterance)), None)
        if answer is not None:
            sent = answer.attributes.get("agui")
            if not isinstance(sent, dict) or sent.get(RUN) != run_input.run_id:
                raise NotFound(f"the interrupt {id_!r} is not open any more", field="resume")

    def _stream(
        self, user: str, answer: GivenAnswer, run_input: RunAgentInput, params: AgUiParams
    ) -> TurnStream:
        input = TurnInput(
            answer.text,
            user,
            run_input.thread_id,
            run_input.attributes(),
            params.idempotency_key or run_input.run_id,
            "agui",
            answer.parsed,
            skill=params.skill or run_input.skill,
        )
        return self._assistant.stream(input)


def speaker(visitor: Visitor, thread_id: str, *given: object) -> str:
    """Return the person that a visitor speaks for; raise `Forbidden` for another person.

    For an operator who names nobody the thread is a separate person.
    """
    found = PERSONS.speaker(visitor, *given)
    if found.user is not None:
        return found.user
    if found.own is not None:
        return found.person("thread", thread_id)
    if not _UNGUESSABLE.fullmatch(thread_id):
        what = "without a token the threadId says who you are: give one like a UUID"
        raise Forbidden(what, field="threadId")
    return PERSONS.anonymous(thread_id)


async def _write_events(
    events: RunEvents, stream: TurnStream, happened: list[TurnEvent]
) -> AsyncGenerator[bytes, None]:
    """Yield the events of a run; events that wait together are joined."""
    head = events.begin()
    async for batch in batches(stream, happened):
        yield head + events.write(batch)
        head = b""


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body
