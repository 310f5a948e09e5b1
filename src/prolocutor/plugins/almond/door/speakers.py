"""The speaker at this door, their dialog, and the dialog's open ask."""

from __future__ import annotations

import hashlib
import logging
import re
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import Visitor
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, StoreError
from prolocutor.web.door_context import DoorPersons

PREFIX: Final = "almond:"
PERSONS: Final = DoorPersons(PREFIX)

MAIN: Final = "main"
MAX_NAME: Final = 200
MIN_SECRET_CHARACTERS: Final = 16
"""Characters of the shortest secret of a conversation."""

_ANONYMOUS: Final = re.compile(r"(?:web|stateless)-([0-9a-f]{32})(?:\.([\w-]{1,64}))?")


ConversationId: TypeAlias = Annotated[
    Annotated[str, Meta(max_length=MAX_NAME)] | None,
    Meta(
        description="The id in an earlier reply; null begins a dialog.",
        extra={"error": f"a conversation's id is a text of at most {MAX_NAME} characters"},
    ),
]

log = logging.getLogger(__name__)


class UserQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The parameter that names the user."""

    user: Annotated[str | None, Meta(description="The user for whom an operator speaks.")] = None


class Speaker(msgspec.Struct, frozen=True):
    """A person and a dialog of theirs.

    `user` and `dialog` are the assistant's names, `conversation` is the client's id. This id is the
    only key to an anonymous person's dialog, so it cannot be guessed; an id chosen by the client
    counts together with a `secret`.
    """

    user: str
    dialog: str
    conversation: str
    anonymous: bool = False
    secret: str | None = None


def find_speaker(
    visitor: Visitor,
    *,
    user: str | None = None,
    conversation: str | None = None,
    fresh: str | None = None,
    secret: str | None = None,
) -> Speaker:
    """Return the speaker of a visitor, by the given `user` and id of a conversation.

    Operators speak for the named user. `fresh` is the prefix of a new conversation's id; without it
    the dialog is `main`. Raise `BadInput` for a bad name, `Forbidden` for another user.
    """
    given = _name(conversation)
    if visitor.kind == "anonymous":
        if given and fresh is None and not _ANONYMOUS.fullmatch(given):
            return chosen_speaker(given, secret)
        return anonymous_speaker(given, fresh or "web")
    name = given or (MAIN if fresh is None else f"{fresh}-{new_id()}")
    if user is not None and len(user) > MAX_NAME:
        raise BadInput(f"a user's name has at most {MAX_NAME} characters", field="user")
    person = PERSONS.find(visitor, user)
    assert person is not None
    return Speaker(person, name, name)


def anonymous_speaker(given: str | None = None, fresh: str = "web") -> Speaker:
    """Return the anonymous person with the conversation `given`, else a new person.

    `web-SECRET.NAME` is another conversation of the same person.
    """
    match = _ANONYMOUS.fullmatch(given or "")
    secret = match[1] if match else new_id()
    conversation = given if match and given else f"{fresh}-{secret}"
    dialog = (match and match[2]) or MAIN
    return Speaker(PERSONS.anonymous(secret), dialog, conversation, anonymous=True)


def chosen_speaker(conversation: str, secret: str | None) -> Speaker:
    """Return the anonymous person of a conversation id chosen by the client.

    The secret of the first visit shows that the person is the same; without a secret it is a first
    visit, with a new secret. Raise `BadInput` for a secret that is too short or too long.
    """
    if secret is not None and not MIN_SECRET_CHARACTERS <= len(secret) <= MAX_NAME:
        what = f"a secret has {MIN_SECRET_CHARACTERS} to {MAX_NAME} characters"
        raise BadInput(what, field="secret")
    secret = secret or new_id()
    key = hashlib.blake2b(secret.encode("utf-8", "replace"), digest_size=32).digest()
    named = conversation.encode("utf-8", "replace")
    digest = hashlib.blake2b(named, key=key, digest_size=16).hexdigest()
    return Speaker(PERSONS.anonymous(digest), MAIN, conversation, anonymous=True, secret=secret)


def _name(given: str | None) -> str | None:
    if not given:
        return None
    if len(given) > MAX_NAME:
        what = f"a conversation's id is a text of at most {MAX_NAME} characters"
        raise BadInput(what, field="conversationId")
    return given


async def expectation(assistant: Assistant, speaker: Speaker) -> dict[str, Any]:
    """Return the open ask of a dialog, `{"ask", "code"?, "entities"?}`; null after a store
    error.
    """
    try:
        waiting = await assistant.archive.waiting(speaker.user, speaker.dialog)
    except StoreError as error:
        log.error("the open question of a dialog cannot be read: %s", error)
        return {"ask": None}
    if waiting is None:
        return {"ask": None}
    return {"ask": waiting.ask, "code": waiting.code, "entities": waiting.entities}
