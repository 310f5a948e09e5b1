"""Channel: a front door of an assistant.

Life cycle: a channel is made with its assistant, without an event loop and without traffic. The
listener reads `routes` once. Of a channel that is `Openable` it awaits `open` before the first
request and `close` after the last request. Handlers run concurrently. A handler may raise any error
of `errors.py`: the listener turns it into a response by one error table. A client may disconnect at
any await; an accepted turn runs to its end and is stored all the same.

Users: a channel gives `prefix` + its own name of a person to the assistant: the same name at two
doors means two persons. Only operators may speak for another user.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import UnionType
from typing import Literal, Protocol, runtime_checkable

import msgspec

from prolocutor.contracts.http import Access, HttpRequest, HttpResponse, WebSocket

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class Route(msgspec.Struct, frozen=True):
    """A method of a path, which may have parts such as `{id}`, and at its end `{rest:path}`.

    `answer` is a plain function, or a `web.operations.Operation`, which reads and writes Structs
    and is described by them in the OpenAPI document. `any_secret`: a key or token is ignored if the
    assistant has none, because the clients of some protocols always send a token.
    """

    method: Method
    path: str
    answer: Callable[[HttpRequest], Awaitable[HttpResponse]]
    access: Access = "known"
    any_secret: bool = False


class WebSocketRoute(msgspec.Struct, frozen=True):
    """A path of WebSockets; the socket is closed when `answer` returns.

    `reads`: it changes nothing, so a key with the scope `read` may open it. `receives` and `sends`
    are the types of messages in each direction, for the OpenAPI document.
    """

    path: str
    answer: Callable[[WebSocket], Awaitable[None]]
    access: Access = "known"
    reads: bool = False
    receives: type | UnionType | None = None
    sends: type | UnionType | None = None


class NotFoundText(msgspec.Struct, frozen=True):
    """The error text for unknown paths below `prefix`, if a door's protocol defines it."""

    prefix: str
    text: str


class ErrorForm(msgspec.Struct, frozen=True):
    """The form of errors of requests below `prefix`, if a door's protocol has its own.

    `write` gets the exception, raised by a handler or before a handler was found. `body` is the
    type of its JSON, for the OpenAPI document; None means the form of all doors.
    """

    prefix: str
    write: Callable[[Exception], HttpResponse]
    body: type | None = None


class DoorPlace(msgspec.Struct, frozen=True):
    """The surroundings of a door: the folder of the assistant's file, the names of its skills."""

    folder: Path
    skills: Sequence[str]


@runtime_checkable
class CheckedDoor(Protocol):
    """Options with a check that needs no assistant."""

    def check(self, place: DoorPlace) -> None:
        """Raise `ConfigError` for faulty options; its `key` names the option."""


class Channel(Protocol):
    """A front door."""

    @property
    def name(self) -> str:
        """Its name in an assistant's file and in the catalog of channels."""

    @property
    def prefix(self) -> str:
        """The prefix of its users' names in the assistant; unique among the channels."""

    @property
    def routes(self) -> Sequence[Route | WebSocketRoute | NotFoundText | ErrorForm]:
        """Its routes; no other channel has the same."""


@runtime_checkable
class Openable(Protocol):
    """A channel with work before the first request and after the last."""

    async def open(self) -> None:
        """Get ready for the first request.

        After a `StoreError` it is called again, until the store answers.
        """

    async def close(self) -> None:
        """Release all resources; there are no more requests."""
