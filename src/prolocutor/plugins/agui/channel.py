"""AgUi: the door for AG-UI clients at `POST /agui` (AG-UI 1.0, events over SSE)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.asks.answer_forms import GivenAnswer
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.turn_events import TurnEvent
from prolocutor.errors import Conflict, Forbidden, NotFound
from prolocutor.plugins.agui.run_events import SKILLS, RunEvents
from prolocutor.plugins.agui.run_input import RUN, RunAgentInput
from prolocutor.web.door_context import USER_HEADER, DoorContext, DoorPersons
from prolocutor.web.event_writing import batches, begun, event_stream
from prolocutor.web.operations import IdempotencyKey, Operation, TypedRequest

PERSONS: Final = DoorPersons("agui:", unnamed=None)

_UNGUESSABLE: Final = re.compile(r"[\w-]{32,}")


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
        said = asked.find_answer()
        if said is None:
            return event_stream(_once(events.begin() + events.nothing()), events.failure)
        stream = self._stream(user, said, asked, params)
        # What is wrong with the request is known by the first event, and then no stream begins.
        happened = await begun(stream)
        return event_stream(_write_events(events, stream, happened), events.failure)

    async def _check_open(self, user: str, asked: RunAgentInput, id_: str) -> None:
        """Raise `Conflict` or `NotFound` for an interrupt that is not open in a thread.

        A repeated run that answered it before gets the stored reply.
        """
        store = self._assistant.store
        dialog_id = await store.active_dialog_id(user, asked.thread_id)
        dialog = None if dialog_id is None else await store.dialog(dialog_id)
        said = [] if dialog is None else dialog.utterances
        place = next((n for n, one in enumerate(said) if one.utt_id == id_), None)
        if place is None or not isinstance(said[place], BotUtterance):
            raise NotFound(f"there is no interrupt {id_!r} in this thread", field="resume")
        answer = next((one for one in said[place:] if isinstance(one, HumanUtterance)), None)
        if answer is not None:
            sent = answer.attributes.get("agui")
            if not isinstance(sent, dict) or sent.get(RUN) != asked.run_id:
                raise NotFound(f"the interrupt {id_!r} is not open any more", field="resume")

    def _stream(
        self, user: str, said: GivenAnswer, asked: RunAgentInput, params: AgUiParams
    ) -> TurnStream:
        input = TurnInput(
            said.text,
            user,
            asked.thread_id,
            asked.attributes(),
            params.idempotency_key or asked.run_id,
            "agui",
            said.parsed,
            skill=params.skill or asked.skill,
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
