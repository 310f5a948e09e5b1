"""McpClient: the facts about a client that a request needs, its person and their dialog."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final, Protocol

import msgspec

from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import Forbidden
from prolocutor.web.door_context import DoorPersons, DoorSpeaker

PREFIX: Final = "mcp:"
PERSONS: Final = DoorPersons(PREFIX, unnamed=None)

_OWN_ID: Final = re.compile(r"([0-9a-f]{32})-([0-9a-f]{8})")


class BackChannel(Protocol):
    """The way back to a client while its request is answered."""

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""

    async def ask(self, method: str, params: JsonObject) -> Any:
        """Send a request; return its result, or raise `RpcFault`."""


class McpClient(msgspec.Struct, frozen=True, kw_only=True):
    """The sender of a request, the version of the protocol, and the client's capabilities.

    - `speaker` is the person, or the caller each of whose conversations is a person.
    - `skill` is the only skill that the tool `ask` asks.
    - `key` is the same for a repeated request.
    - `back` is the way back to the client, or None.
    - `is_stateless`: questions to the person are results.
    """

    version: str
    speaker: DoorSpeaker
    skill: str | None = None
    elicits: bool = False
    key: str | None = None
    back: BackChannel | None = None
    is_stateless: bool = False


def elicits(capabilities: Any) -> bool:
    """Return whether a client can show forms to its user."""
    offered = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(offered, dict) and ("form" in offered or "url" not in offered)


class PersonDialog(msgspec.Struct, frozen=True):
    """A dialog of a person: the assistant's name of the person, the clients' id of the dialog."""

    user: str
    id: str


def find_conversation(speaker: DoorSpeaker, given: str | None) -> PersonDialog:
    """Return the dialog of a conversation id, a new dialog without an id.

    Ids made by this door name their owner; raise `Forbidden` for another person's id. Callers may
    use ids of their own; for a caller without a person each conversation is a person. An anonymous
    visitor is known by the id alone, which cannot be guessed.
    """
    owner = speaker.user or speaker.own
    own = None if given is None else _OWN_ID.fullmatch(given)
    if not given:
        secret = new_id()
        owner = owner or PERSONS.anonymous(secret)
        given = f"{secret}-{_mark(owner, secret)}"
    elif owner is None and own is not None:
        owner = PERSONS.anonymous(own[1])
    if owner is None or (own is not None and own[2] != _mark(owner, own[1])):
        what = "there is no such conversation of yours; leave conversation_id out for a new one"
        raise Forbidden(what, field="conversation_id")
    if speaker.user is None and speaker.own is not None:
        owner = speaker.person("conversation", given)
    return PersonDialog(owner, given)


def _mark(user: str, id_: str) -> str:
    return hashlib.blake2b(f"{user}/{id_}".encode(), digest_size=4).hexdigest()
