"""The requests and replies of the door, as DeepPavlov Agent's HTTP API has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from prolocutor.contracts.http import Visitor
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput
from prolocutor.web.door_context import DoorPersons
from prolocutor.web.operations import IdempotencyKey, OpenStruct, SkillName

UserName: TypeAlias = str | int | float | None
"""A `user_id` as a client writes it."""

PERSONS: Final = DoorPersons("", unnamed=None, field="user_id")

_ANONYMOUS: Final = re.compile(r"anonymous-[0-9a-f]{32}")

UserId: TypeAlias = Annotated[
    str | int | float | None,
    Meta(
        description="Who speaks; a token's owner may leave it out. A number is read as its text.",
        extra={"error": "user_id should be a text or a number"},
    ),
]
Rating: TypeAlias = Annotated[
    bool | int | float | str | list[Any] | dict[str, Any],
    Meta(description="Any JSON but null.", extra={"error": "a rating is needed"}),
]
DialogState: TypeAlias = Annotated[
    dict[str, Any], Meta(description="A dialog in the state format of DeepPavlov Agent.")
]

Wire: TypeAlias = Annotated[
    Literal["native", "deeppavlov"],
    Meta(description="`deeppavlov`: a persona that was never set is `{}`, as it is there."),
]


def speaker(visitor: Visitor, user_id: UserName) -> str:
    """Return the user that a visitor speaks for, by the `user_id` of the request.

    An operator speaks for any user, a person for themselves. An anonymous visitor becomes a new
    user, and stays the same user by the `user_id` of the first reply, which cannot be guessed.
    Raise `BadInput` where the `user_id` is missing, `Forbidden` where it is another person's.
    """
    name = _name(user_id)
    if visitor.kind == "anonymous" and _ANONYMOUS.fullmatch(name):
        return name
    user = PERSONS.find(visitor, name)
    if visitor.kind == "anonymous":
        return PERSONS.anonymous(new_id())
    if user is None:
        raise BadInput("user_id is needed: it says whose words these are", field="user_id")
    return user


def rater(visitor: Visitor, user_id: UserName) -> str | None:
    """Return the user that rates; operators need not name a user."""
    if visitor.kind == "operator":
        return _name(user_id) or None
    return speaker(visitor, user_id)


def _name(user_id: UserName) -> str:
    return "" if user_id is None else text_or_number(user_id)


def text_or_number(given: str | int | float) -> str:
    """Return a text as it is, and a number as JSON writes it."""
    return given if isinstance(given, str) else plain.encode(given).decode()


class SayParams(msgspec.Struct, frozen=True):
    """The parameters of `POST /`."""

    idempotency_key: IdempotencyKey = msgspec.field(default=None, name="Idempotency-Key")
    skill: SkillName = None


class SayRequest(OpenStruct):
    """A person's input; every other key becomes an attribute of the utterance."""

    user_id: UserId = None
    payload: Annotated[
        str | int | float | None,
        Meta(
            description="The text, or a number; `/start` and `/close` end the dialog instead.",
            extra={"error": "payload should be a text or a number"},
        ),
    ] = None
    user_device_type: Annotated[Any, Meta(description="Accepted and ignored.")] = None
    location: Annotated[Any, Meta(description="Accepted and ignored.")] = None
    debug_output: Annotated[
        Any,
        Meta(description="If true, the reply has `debug_output`. Kept as an attribute."),
    ] = UNSET

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of the utterance."""
        return (
            self.extra
            if self.debug_output is UNSET
            else {
                **self.extra,
                "debug_output": self.debug_output,
            }
        )


class DebugOutput(msgspec.Struct):
    """The annotations of an input by services."""

    hypotheses: list[dict[str, Any]] = []
    annotations: dict[str, Any] = {}


class SayReply(msgspec.Struct, kw_only=True):
    """The reply to an input."""

    dialog_id: str
    utt_id: Annotated[str, Meta(description="The id of the bot utterance.")]
    user_id: Annotated[str | int | float, Meta(description="As the request had it.")]
    response: str
    attributes: dict[str, Any]
    active_skill: str
    debug_output: DebugOutput | UnsetType = UNSET


class EmptyReply(msgspec.Struct):
    """The reply to `/start` and `/close`."""


class DialogPath(msgspec.Struct, frozen=True):
    """The parameters of a request for a dialog."""

    dialog_id: Annotated[
        str,
        Meta(
            pattern="^[0-9a-fA-F]+$",
            description="`dialog_id` or `_id`.",
            extra={"error": "a dialog's id is made of hex digits"},
        ),
    ]
    wire: Wire = "native"


class DialogIdsQuery(msgspec.Struct, frozen=True):
    """Which dialogs are listed."""

    offset: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    active: Annotated[bool | None, Meta(extra={"error": "_active is 1 or 0"})] = msgspec.field(
        default=None, name="_active"
    )


class DialogIds(msgspec.Struct):
    """A page of ids, oldest dialogs first."""

    dialog_ids: Sequence[str]
    next: Annotated[str | None, Meta(description="The query of the next page.")]


class UserPath(msgspec.Struct, frozen=True):
    """The parameters of a request about a person."""

    user_external_id: str
    wire: Wire = "native"


class DialogRating(msgspec.Struct):
    """A person's rating of a dialog."""

    dialog_id: str
    rating: Rating
    user_id: UserId = None


class UtteranceRating(msgspec.Struct):
    """A person's rating of an utterance."""

    utt_id: str
    rating: Rating
    user_id: UserId = None


class CurrentLoad(msgspec.Struct):
    """Calls that run now, and mean seconds over the last five minutes, by service."""

    current_load: dict[str, int]
    response_time: dict[str, float]
