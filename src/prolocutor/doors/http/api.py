"""DeepPavlov: the door with the addresses and JSON of DeepPavlov Agent's HTTP API.

Source: `deeppavlov_agent/http_api`, the development line. Better than there: a wrong request gets a
status and JSON that name its fault, and unknown ids are errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import ClassVar, Final, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import UNSET

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.background import beside
from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.contracts.http import HttpResponse, Visitor, WebSocket
from prolocutor.contracts.store import DialogQuery
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import Dialog, HumanUtterance
from prolocutor.dialog.ids import timestamp
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.rendering import said_as_text
from prolocutor.doors.http.messages import (
    CurrentLoad,
    DebugOutput,
    DialogIds,
    DialogIdsQuery,
    DialogPath,
    DialogRating,
    DialogState,
    EmptyReply,
    SayParams,
    SayReply,
    SayRequest,
    UserPath,
    UtteranceRating,
    Wire,
    rater,
    speaker,
    text_or_number,
)
from prolocutor.errors import BadInput, Conflict, Forbidden, NotFound
from prolocutor.observe.recent_turns import ServiceTimes
from prolocutor.web.door_context import DoorContext, may_see
from prolocutor.web.error_table import name_text_field
from prolocutor.web.event_writing import answer_message
from prolocutor.web.operations import JsonReader, Operation, TypedRequest
from prolocutor.web.static_files import OWN_POLICY, StaticFiles

COMMANDS: Final = ("/start", "/close")
"""Payloads that end the dialog instead of being answered."""

_MESSAGES: Final = JsonReader(SayRequest)

MAX_RATING: Final = 10_000

FOLDER: Final = Path(__file__).parent / "static"
"""A plain page for trying the WebSocket, as DeepPavlov Agent has it."""

LOAD_PERIOD: Final = 0.5
"""Seconds between two messages that show the load."""

_PONG: Final = HttpResponse(b'"pong"')


class TurnEndpoints:
    """The endpoints for talking to the assistant."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def say(self, request: TypedRequest[SayParams, SayRequest]) -> SayReply | EmptyReply:
        """Say something and get the reply."""
        key, skill = request.params.idempotency_key, request.params.skill
        said, visitor = request.body, request.visitor
        return await self._answer(said, visitor, "http_client", key, skill) or EmptyReply()

    async def chat(self, socket: WebSocket) -> None:
        """Say something with each message, and get a reply each; errors do not close the socket."""
        async for message in socket:
            socket.send(await answer_message(self._answer_message(message, socket)))

    async def _answer_message(self, message: str | bytes, socket: WebSocket) -> SayReply | str:
        said, skill = _MESSAGES.read(message), socket.query("skill")
        reply = await self._answer(said, socket.visitor, "ws_client", None, skill)
        return reply or "command_performed"

    async def _answer(
        self,
        request: SayRequest,
        visitor: Visitor,
        channel: str,
        key: str | None,
        skill: str | None,
    ) -> SayReply | None:
        """Return the reply to an input, of a single skill if named; None for a command."""
        user = speaker(visitor, request.user_id)
        text = "" if request.payload is None else text_or_number(request.payload)
        if text in COMMANDS:
            await self._assistant.archive.close(user)
            return None
        input = TurnInput(
            text,
            user,
            attributes=request.attributes(),
            request_id=key,
            channel=channel,
            skill=skill,
        )
        with name_text_field("payload"):
            result = await self._assistant.turn(input)
        spoken = result.spoken
        reply = SayReply(
            dialog_id=result.dialog_id,
            utt_id=spoken.utt_id,
            user_id=user if request.user_id is None else request.user_id,
            response=said_as_text(spoken.text, spoken.attributes),
            attributes=spoken.attributes,
            active_skill=spoken.active_skill,
        )
        if request.debug_output is not UNSET and request.debug_output:
            reply.debug_output = await self._debug_output(result)
        return reply

    async def _debug_output(self, result: TurnResult) -> DebugOutput:
        """Return the annotations of the human utterance, stored ones for a repeated reply."""
        if not result.repeated:
            return DebugOutput(result.hypothesis_states, result.annotations)
        dialog = await self._assistant.store.dialog(result.dialog_id)
        for utterance in dialog.utterances if dialog is not None else ():
            if utterance.utt_id == result.human_utt_id and isinstance(utterance, HumanUtterance):
                state = agent_state.human_utterance_to_state(utterance)
                return DebugOutput(state["hypotheses"], state["annotations"])
        return DebugOutput()


class DialogEndpoints:
    """The endpoints for stored dialogs: operators see all of them, persons their own."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def show_dialog(self, request: TypedRequest[DialogPath, None]) -> HttpResponse:
        """Return a whole dialog."""
        id_ = request.params.dialog_id.lower()
        await self._check_owner(request.visitor, id_, "dialog_id")
        dialog = await self._assistant.store.dialog(id_)
        if dialog is None:
            raise _unknown_id(id_, "dialog_id")
        return HttpResponse(self._encode(dialog, request.params.wire))

    async def list_dialogs(self, request: TypedRequest[DialogIdsQuery, None]) -> DialogIds:
        """Return the ids of dialogs, oldest first."""
        query, visitor = request.params, request.visitor
        user = None if visitor.kind == "operator" else _own_name(visitor)
        found = await self._assistant.store.dialog_ids(
            DialogQuery(user=user, active=query.active, offset=query.offset, limit=query.limit + 1)
        )
        following = None
        if len(found) > query.limit:
            page = {"offset": query.offset + query.limit, "limit": query.limit}
            if query.active is not None:
                page["_active"] = int(query.active)
            following = "?" + urlencode(page)
        return DialogIds(found[: query.limit], following)

    async def list_user_dialogs(self, request: TypedRequest[UserPath, None]) -> HttpResponse:
        """Return all dialogs of a person, as wholes."""
        user = request.params.user_external_id
        if not may_see(request.visitor, user):
            raise Forbidden("the dialogs of others are for operators", field="user_external_id")
        pieces = self._dialogs(user, request.params.wire)
        first = await anext(pieces)  # a store that cannot be read is still an error then
        return HttpResponse(_chain(first, pieces))

    async def delete_person(self, request: TypedRequest[UserPath, None]) -> None:
        """Delete a person with all that is theirs (operators)."""
        user = request.params.user_external_id
        if not await self._assistant.archive.delete_person(user):
            raise NotFound(f"nobody is called {user!r}", field="user_external_id")

    async def rate_dialog(self, request: TypedRequest[None, DialogRating]) -> None:
        """Rate a dialog."""
        body = request.body
        id_ = body.dialog_id.lower()
        user = await self._rater(request.visitor, id_, "dialog_id", body)
        await self._assistant.store.rate_dialog(id_, body.rating, user, timestamp())

    async def rate_utterance(self, request: TypedRequest[None, UtteranceRating]) -> None:
        """Rate an utterance."""
        body = request.body
        id_ = body.utt_id.lower()
        user = await self._rater(request.visitor, id_, "utt_id", body)
        await self._assistant.archive.rate(id_, body.rating, user)

    async def _rater(
        self, visitor: Visitor, id_: str, field: str, body: DialogRating | UtteranceRating
    ) -> str | None:
        """Return who rates; None for an operator who names no user."""
        if len(plain.encode(body.rating)) > MAX_RATING:
            raise BadInput(f"a rating has at most {MAX_RATING:,} bytes", field="rating")
        user = rater(visitor, body.user_id)
        return await self._check_owner(visitor, id_, field) or user

    async def _check_owner(self, visitor: Visitor, id_: str, field: str) -> str | None:
        """Return the owner of a dialog or utterance; None for an operator, who need not be.

        Raise the same `NotFound` for another person's data as for data that do not exist, so that
        the response does not tell them apart.
        """
        if visitor.kind == "operator":
            return None
        owner = await self._assistant.store.find_owner(id_)
        if not may_see(visitor, owner):
            raise _unknown_id(id_, field)
        return owner

    async def _dialogs(self, user: str, wire: Wire) -> AsyncIterator[bytes]:
        before = b"["
        async for dialog in self._assistant.store.export(user=user):
            yield before + self._encode(dialog, wire)
            before = b","
        yield b"]" if before == b"," else b"[]"

    def _encode(self, dialog: Dialog, wire: Wire) -> bytes:
        """Return a dialog as services see it; of a pipeline of DeepPavlov Agent with its personas,
        as on its wire."""
        as_now = self._assistant.engine.prepared.user_snapshot == "current"
        if wire == "native" and not as_now:
            return agent_state.encode_dialog(dialog)
        state = agent_state.dialog_to_state(dialog)
        if as_now:
            for utterance in state["utterances"]:
                now = state["bot" if agent_state.is_bot(utterance) else "human"]
                utterance["user"] = agent_state.profile_as_now(utterance["user"], now)
        if wire == "deeppavlov" or as_now:
            people = [
                state["human"],
                state["bot"],
                *(utterance["user"] for utterance in state["utterances"]),
            ]
            for person in people:
                person["persona"] = {} if person["persona"] == [] else person["persona"]
        return plain.encode(state)


async def _chain(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


def _own_name(visitor: Visitor) -> str:
    if visitor.user is None:
        raise Forbidden("lists of dialogs are for persons and operators")
    return visitor.user


def _unknown_id(id_: str, field: str) -> NotFound:
    kind = "dialog" if field == "dialog_id" else "utterance"
    return NotFound(f"there is no {kind} {id_}", field=field)


class DeepPavlov:
    """The door compatible with DeepPavlov Agent's HTTP API; its users are the assistant's.

    `load` has to be among the assistant's observers; without it no response times are shown.
    """

    name: Final = "deeppavlov"
    prefix: Final = ""

    def __init__(self, assistant: Assistant, *, load: ServiceTimes | None = None) -> None:
        self._assistant = assistant
        self._load = load
        turns, dialogs = TurnEndpoints(assistant), DialogEndpoints(assistant)
        files = StaticFiles(FOLDER, assistant.name, OWN_POLICY)
        list_dialogs = Operation(dialogs.list_dialogs)
        show_dialog = Operation(dialogs.show_dialog, returns=DialogState, errors=[NotFound])
        show_user = Operation(dialogs.list_user_dialogs, returns=list[DialogState])
        delete_user = Operation(dialogs.delete_person, status=204, errors=[NotFound])
        self.routes: list[Route | WebSocketRoute] = [
            Route("POST", "/", Operation(turns.say, errors=[Conflict, NotFound])),
            *files.routes("/chat", "/chat/{file}"),
            WebSocketRoute("/chat/ws", turns.chat, receives=SayRequest, sends=SayReply),
            Route("GET", "/ping", Operation(self.ping, returns=Literal["pong"]), "all"),
            Route("GET", "/api/dialogs", list_dialogs),
            Route("GET", "/api/dialogs/", list_dialogs),
            Route("GET", "/api/dialogs/{dialog_id}", show_dialog),
            Route("GET", "/api/user/{user_external_id:path}", show_user),
            Route("DELETE", "/api/user/{user_external_id:path}", delete_user, "operators"),
            Route("POST", "/rating/dialog", Operation(dialogs.rate_dialog, errors=[NotFound])),
            Route(
                "POST", "/rating/utterance", Operation(dialogs.rate_utterance, errors=[NotFound])
            ),
            Route("GET", "/debug/current_load", Operation(self.current_load), "operators"),
            WebSocketRoute(
                "/debug/current_load/ws", self.follow_load, "operators", sends=CurrentLoad
            ),
        ]

    async def ping(self, _: TypedRequest[None, None]) -> HttpResponse:
        """Answer "pong"."""
        return _PONG

    async def current_load(self, _: TypedRequest[None, None]) -> CurrentLoad:
        """Show the calls that run now, and mean seconds over the last five minutes."""
        return self._current()

    async def follow_load(self, socket: WebSocket) -> None:
        """Send the current load twice a second until the client leaves."""
        with beside(self._send_load(socket)):
            async for _ in socket:
                pass  # a client has nothing to say here

    async def _send_load(self, socket: WebSocket) -> None:
        while True:
            socket.send(msgspec.json.encode(self._current()).decode())
            await asyncio.sleep(LOAD_PERIOD)

    def _current(self) -> CurrentLoad:
        running = {service.name: service.in_flight for service in self._assistant.services()}
        return CurrentLoad(
            {**running, "agent": self._assistant.turns.busy},
            self._load.means() if self._load is not None else {},
        )


class DeepPavlovDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses and JSON of DeepPavlov Agent's HTTP API."""

    is_usual: ClassVar[bool] = True

    def build(self, context: DoorContext) -> DeepPavlov:
        """Return the door."""
        return DeepPavlov(context.assistant, load=context.times)
