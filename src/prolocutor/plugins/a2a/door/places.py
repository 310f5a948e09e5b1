"""Places: the person and context of a message, and the ids of contexts and tasks.

A context is a dialog of a person; its id is the dialog's name. A task is a turn, or several turns
if the assistant asks: its id is made of the ids of the context and of the first message, so that
the id leads to the task, and a message that is sent again has the same task.
"""

from __future__ import annotations

import base64
import binascii
import re
from hashlib import blake2b
from typing import Final

import msgspec

from prolocutor.dialog.ids import new_id
from prolocutor.plugins.a2a.wire.faults import INVALID_PARAMS, A2aFault, not_found
from prolocutor.web.door_context import DoorPersons, DoorSpeaker

PREFIX: Final = "a2a:"
PERSONS: Final = DoorPersons(PREFIX, unnamed=None)
CONTEXT: Final = "context"
"""The kind of persons that contexts are."""

MAX_ID: Final = 200
_OURS: Final = re.compile(r"ctx-([0-9a-f]{16})([0-9a-f]{16})")
_ANONYMOUS: Final = re.compile(r"anonymous-([0-9a-f]{32})")
_SAFE: Final = re.compile(r"[A-Za-z0-9_-]{1,120}")


class A2aPlace(msgspec.Struct, frozen=True):
    """A person and a context of theirs.

    - `user` is the assistant's name for the person.
    - `is_new`: the id of the context was just made.
    - `is_ours`: the id has the form of the ids that this door makes, so an unknown id is refused.
    """

    user: str
    context: str
    is_new: bool = False
    is_ours: bool = False


def find_place(speaker: DoorSpeaker, context: str, seed: str) -> A2aPlace:
    """Return the place of a message; a message without a context opens a new context.

    The id of a new context is made of `seed`, so a repeated message finds it. A caller may choose
    the id of a context; an id of our form that belongs to another person is refused as unknown. For
    a caller who names no person, each context is a person.
    """
    if len(context) > MAX_ID:
        raise A2aFault(
            INVALID_PARAMS, f"a contextId has at most {MAX_ID} characters", field="contextId"
        )
    owner = speaker.user or speaker.own
    if owner is None:
        return _anonymous(context)
    is_new = not context
    if is_new:
        begun = _digest(owner, seed)
        context = f"ctx-{begun}{_digest(owner, begun)}"
    ours = _OURS.fullmatch(context)
    if ours is not None and ours[2] != _digest(owner, ours[1]):
        raise unknown_context(context)
    if _ANONYMOUS.fullmatch(context):
        raise unknown_context(context)
    user = speaker.user or speaker.person(CONTEXT, context)
    return A2aPlace(user, context, is_new=is_new, is_ours=ours is not None)


def _anonymous(context: str) -> A2aPlace:
    """Return the place of an anonymous person, who is known by the id of the context alone."""
    if not context:
        secret = new_id()
        return A2aPlace(PERSONS.anonymous(secret), f"anonymous-{secret}", True, True)
    match = _ANONYMOUS.fullmatch(context)
    if match is None:
        raise unknown_context(context)
    return A2aPlace(PERSONS.anonymous(match[1]), context, is_ours=True)


def unknown_context(context: str) -> A2aFault:
    """Return the error for a context that does not exist or belongs to another person."""
    what = f"there is no context {context!r:.200}; leave contextId out to begin one"
    return A2aFault(INVALID_PARAMS, what, field="contextId")


def task_id(context: str, message_id: str) -> str:
    """Return the id of the task that a message begins."""
    name = context
    if not _SAFE.fullmatch(context):
        name = "~" + base64.urlsafe_b64encode(context.encode()).decode().rstrip("=")
    return f"{name}.{_digest(context, message_id)}"


def find_task_place(speaker: DoorSpeaker, id_: str) -> A2aPlace:
    """Return the place of a task by its id; raise `A2aFault` for a foreign id."""
    name, dot, _ = id_.rpartition(".")
    if not dot or not name or len(id_) > 2 * MAX_ID:
        raise not_found(id_)
    if name.startswith("~"):
        try:
            padded = name[1:] + "=" * (-(len(name) - 1) % 4)
            name = base64.urlsafe_b64decode(padded).decode()
        except (binascii.Error, ValueError):
            raise not_found(id_) from None
    try:
        return find_place(speaker, name, "")
    except A2aFault:
        raise not_found(id_) from None


def request_key(context: str, message_id: str) -> str:
    """Return the key by which a repeated message gets the stored reply."""
    return blake2b(f"{context}\0{message_id}".encode(), digest_size=16).hexdigest()


def _digest(first: str, second: str) -> str:
    text = f"{first}\0{second}".encode("utf-8", "replace")
    return blake2b(text, digest_size=8).hexdigest()
