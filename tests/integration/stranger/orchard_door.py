"""A door for people who walk by."""

from typing import Annotated

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.dialog.inputs import TurnInput
from prolocutor.errors import Forbidden
from prolocutor.web.door_context import DoorContext, DoorPersons
from prolocutor.web.operations import Operation, TypedRequest

PERSONS = DoorPersons("orchard:")


class Saying(msgspec.Struct):
    user: str
    text: str


class Answered(msgspec.Struct):
    reply: str


class Gate:
    name = "orchard"
    prefix = PERSONS.prefix

    def __init__(self, assistant: Assistant, path: str) -> None:
        self._assistant = assistant
        self.routes = [Route("POST", path, Operation(self.say))]

    async def say(self, request: TypedRequest[None, Saying]) -> Answered:
        """Say something at the gate."""
        said = request.body
        user = PERSONS.find(request.visitor, said.user)
        if user is None:
            raise Forbidden("this needs a token")
        turn = await self._assistant.turn(TurnInput(said.text, user, channel=self.name))
        return Answered(turn.spoken.text)


class OrchardDoor(msgspec.Struct, frozen=True, kw_only=True):
    """A gate at `POST /gate`."""

    path: Annotated[str, Meta(pattern="^/[a-z]+$", description="Where the gate is.")] = "/gate"

    def build(self, context: DoorContext) -> Gate:
        return Gate(context.assistant, self.path)
