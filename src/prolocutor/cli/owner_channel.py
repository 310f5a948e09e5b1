"""The owner's door: turns, ratings and deletion for the same user's commands, operators only.

While `prolocutor serve` owns its store, `ask`, `chat` and `dialogs` use this door. Users have full
names, with the prefix of the door that they use.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner import rate
from prolocutor.cli.turn_output import TurnOutput, turn_output
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import KeyScope, Visitor
from prolocutor.errors import BadInput, Forbidden, NotFound
from prolocutor.web.audit_trail import AuditedAct, read_acts
from prolocutor.web.key_ring import KeyRing, StoredKey
from prolocutor.web.operations import Operation, TypedRequest

TURN: Final = "/owner/turn"
CLOSE: Final = "/owner/close"
RATE: Final = "/owner/rate"
DELETE: Final = "/owner/delete"
KEYS: Final = "/owner/keys"
AUDIT: Final = "/owner/audit"


class OwnerTurn(msgspec.Struct, frozen=True):
    """A user's input."""

    text: str
    user: str


class OwnerClose(msgspec.Struct, frozen=True):
    """The user whose dialog ends."""

    user: str


class OwnerClosed(msgspec.Struct, frozen=True):
    """The dialog that ended; null without a dialog."""

    dialog_id: str | None


class OwnerRating(msgspec.Struct, frozen=True):
    """A rating of the dialog or utterance with this id."""

    id: str
    rating: Any = None


class OwnerRated(msgspec.Struct, frozen=True):
    """A rating."""

    rated: str


class OwnerDeletion(msgspec.Struct, frozen=True):
    """The user to delete, or the date before which dialogs are deleted."""

    user: str | None = None
    before: str | None = None


class OwnerDeleted(msgspec.Struct, frozen=True):
    """How many dialogs were deleted, or whether the user was."""

    deleted: int | bool


class KeyCommand(msgspec.Struct, frozen=True):
    """A change of keys, and its arguments: a name and scopes or a user, or an id."""

    do: Literal["create", "list", "revoke"]
    name: str = ""
    scopes: list[KeyScope] = []
    seconds: float | None = None
    user: str | None = None
    id: str = ""


class KeyResult(msgspec.Struct, frozen=True):
    """The keys of the store, or the secret of a new key."""

    keys: list[StoredKey] = []
    secret: str = ""


class AuditQuestion(msgspec.Struct, frozen=True):
    """For how many seconds to look back."""

    seconds: float


class AuditList(msgspec.Struct, frozen=True):
    """The operators' actions, the earliest first."""

    acts: list[AuditedAct]


async def obey(ring: KeyRing, command: KeyCommand) -> KeyResult:
    """Execute a command on keys; return the keys or the secret."""
    if command.do == "list":
        return KeyResult(await ring.list())
    if command.do == "revoke":
        await ring.revoke(command.id)
        return KeyResult()
    secret, key = await ring.create(command.name, command.scopes, command.seconds, command.user)
    return KeyResult([key], secret)


class OwnerChannel:
    """The routes by which other commands use the store through its owner."""

    name: Final = "owner"
    prefix: Final = "owner:"

    def __init__(self, assistant: Assistant, ring: KeyRing | None = None) -> None:
        self._assistant = assistant
        self._ring = ring or KeyRing(assistant.store)
        self.routes: Sequence[Route] = [
            Route("POST", TURN, Operation(self.owner_turn), "operators"),
            Route("POST", CLOSE, Operation(self.owner_close), "operators"),
            Route("POST", RATE, Operation(self.owner_rate, errors=[NotFound]), "operators"),
            Route("POST", DELETE, Operation(self.owner_delete), "operators"),
            Route("POST", KEYS, Operation(self.owner_keys, errors=[NotFound]), "operators"),
            Route("POST", AUDIT, Operation(self.owner_audit), "operators"),
        ]

    async def open(self) -> None:
        """Read the keys in the store."""
        await self._ring.open()

    async def close(self) -> None:
        """Write the last uses of keys."""
        await self._ring.aclose()

    async def owner_keys(self, request: TypedRequest[None, KeyCommand]) -> KeyResult:
        """Make, list or revoke keys (for our own commands)."""
        _check_admin(request.visitor)
        return await obey(self._ring, request.body)

    async def owner_audit(self, request: TypedRequest[None, AuditQuestion]) -> AuditList:
        """List the operators' actions (for our own commands)."""
        _check_admin(request.visitor)
        since = time.time() - request.body.seconds
        return AuditList(await read_acts(self._assistant.store, since))

    async def owner_turn(self, request: TypedRequest[None, OwnerTurn]) -> TurnOutput:
        """Make a turn and return it as a whole (for our own commands)."""
        body = request.body
        result = await self._assistant.turn(body.text, user=body.user, channel="cmd_client")
        return turn_output(body.text, result)

    async def owner_close(self, request: TypedRequest[None, OwnerClose]) -> OwnerClosed:
        """End a user's dialog (for our own commands)."""
        return OwnerClosed(await self._assistant.archive.close(request.body.user))

    async def owner_rate(self, request: TypedRequest[None, OwnerRating]) -> OwnerRated:
        """Rate a dialog or an utterance (for our own commands)."""
        assistant, body = self._assistant, request.body
        return OwnerRated(await rate(assistant.store, body.id, body.rating, assistant))

    async def owner_delete(self, request: TypedRequest[None, OwnerDeletion]) -> OwnerDeleted:
        """Delete a user, or all dialogs before a date (for our own commands)."""
        _check_admin(request.visitor)
        body = request.body
        if body.before is not None:
            return OwnerDeleted(await self._assistant.archive.delete_older(body.before))
        if body.user is None:
            raise BadInput("user or before is needed", field="user")
        return OwnerDeleted(await self._assistant.archive.delete_person(body.user))


def _check_admin(visitor: Visitor) -> None:
    if visitor.scopes is not None and "admin" not in visitor.scopes:
        raise Forbidden("a key for this needs the scope admin")
