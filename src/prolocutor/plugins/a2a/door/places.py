"""Who speaks at this door, in which context, and the ids of contexts and tasks.

A context is a dialog of one person, its id the dialog's name. A task is a turn of it, or several
where the assistant asks: its id is made of the context's and of the first message's, so that it
says where the task is found, and is the same when the message is sent again.
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
    """A person and one of their contexts.

    `user` is the assistant's name for the person. `is_new`: the context was just given its id.
    `is_ours`: ids of this form are given here alone, so an unknown one is refused.
    """

    user: str
    context: str
    is_new: bool = False
    is_ours: bool = False


def place_of(speaker: DoorSpeaker, context: str, seed: str) -> A2aPlace:
    """Return where a message belongs; without a context it opens a new one.

    The id of a new context is made of `seed`, so that a message that is sent again finds it. A
    caller may choose the id of a context. One in the form of ours that was given to another is
    refused as one that does not exist. A caller who names no person has one for each context.
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
    """Return the place of an anonymous person: the id of the context is all that they have."""
    if not context:
        secret = new_id()
        return A2aPlace(PERSONS.anonymous(secret), f"anonymous-{secret}", True, True)
    known = _ANONYMOUS.fullmatch(context)
    if known is None:
        raise unknown_context(context)
    return A2aPlace(PERSONS.anonymous(known[1]), context, is_ours=True)


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


def place_of_task(speaker: DoorSpeaker, id_: str) -> A2aPlace:
    """Return where a task is, by its id; `A2aFault` for an id that was not given here."""
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
        return place_of(speaker, name, "")
    except A2aFault:
        raise not_found(id_) from None


def request_key(context: str, message_id: str) -> str:
    """Return the key by which a message that is sent again gets the stored reply."""
    return blake2b(f"{context}\0{message_id}".encode(), digest_size=16).hexdigest()


def _digest(first: str, second: str) -> str:
    text = f"{first}\0{second}".encode("utf-8", "replace")
    return blake2b(text, digest_size=8).hexdigest()
