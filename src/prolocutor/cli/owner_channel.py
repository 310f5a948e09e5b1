"""The owner's door: turns, ratings and deletion for the same user's commands, operators only.

`prolocutor serve` owns its store; `ask`, `chat` and `dialogs` come in here meanwhile. Users have
full names, with the prefix of the door that they came in by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.store_access import rate
from prolocutor.cli.turn_output import TurnOutput, turn_output
from prolocutor.contracts.channel import Route
from prolocutor.errors import BadInput, NotFound
from prolocutor.web.operations import Operation, TypedRequest

TURN: Final = "/owner/turn"
CLOSE: Final = "/owner/close"
RATE: Final = "/owner/rate"
DELETE: Final = "/owner/delete"


class OwnerTurn(msgspec.Struct, frozen=True):
    """What a user says."""

    text: str
    user: str


class OwnerClose(msgspec.Struct, frozen=True):
    """The user whose dialog ends."""

    user: str


class OwnerClosed(msgspec.Struct, frozen=True):
    """The dialog that ended; null if there was none."""

    dialog_id: str | None


class OwnerRating(msgspec.Struct, frozen=True):
    """A rating of the dialog or utterance with this id."""

    id: str
    rating: Any = None


class OwnerRated(msgspec.Struct, frozen=True):
    """What was rated."""

    rated: str


class OwnerDeletion(msgspec.Struct, frozen=True):
    """The user to delete, or the date before which dialogs are deleted."""

    user: str | None = None
    before: str | None = None


class OwnerDeleted(msgspec.Struct, frozen=True):
    """How many dialogs were deleted, or whether the user was."""

    deleted: int | bool


class OwnerChannel:
    """The routes by which other commands use the store through its owner."""

    name: Final = "owner"
    prefix: Final = "owner:"

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.routes: Sequence[Route] = [
            Route("POST", TURN, Operation(self.owner_turn), "operators"),
            Route("POST", CLOSE, Operation(self.owner_close), "operators"),
            Route("POST", RATE, Operation(self.owner_rate, errors=[NotFound]), "operators"),
            Route("POST", DELETE, Operation(self.owner_delete), "operators"),
        ]

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    async def owner_turn(self, request: TypedRequest[None, OwnerTurn]) -> TurnOutput:
        """Make a turn and return it as a whole (for our own commands)."""
        said = request.body
        result = await self._assistant.turn(said.text, user=said.user, channel="cmd_client")
        return turn_output(said.text, result)

    async def owner_close(self, request: TypedRequest[None, OwnerClose]) -> OwnerClosed:
        """End a user's dialog (for our own commands)."""
        return OwnerClosed(await self._assistant.close_dialog(request.body.user))

    async def owner_rate(self, request: TypedRequest[None, OwnerRating]) -> OwnerRated:
        """Rate a dialog or an utterance (for our own commands)."""
        assistant, body = self._assistant, request.body
        return OwnerRated(await rate(assistant.store, body.id, body.rating, assistant))

    async def owner_delete(self, request: TypedRequest[None, OwnerDeletion]) -> OwnerDeleted:
        """Delete a user, or all dialogs before a date (for our own commands)."""
        body = request.body
        if body.before is not None:
            return OwnerDeleted(await self._assistant.store.delete_older(body.before))
        if body.user is None:
            raise BadInput("user or before is needed", field="user")
        return OwnerDeleted(await self._assistant.delete_person(body.user))
