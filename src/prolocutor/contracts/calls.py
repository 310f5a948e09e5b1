"""Calls of services, watched and kept; where nobody does, calls cost nothing more.

`CallWatch`: observers of whole calls. `CallKeeper`: wrappers of connectors, such as the ledger of
effects and the purse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextvars import ContextVar
from time import monotonic
from typing import Any, Final, Protocol

import msgspec

from prolocutor.contracts.connector import Connector, Request, ServiceContext
from prolocutor.contracts.store import TurnOpening
from prolocutor.dialog.plain import JsonObject

MOST_SHOWN: Final = 200_000
"""Bytes that are kept of one body."""

EFFECT_KEY: Final = "idempotencyKey"
"""The name of the key in the metadata of protocols that have no name for it."""


class WireExchange(msgspec.Struct, kw_only=True):
    """A request over HTTP and its answer, as the bytes of their bodies; headers are left out.

    - `url` is without user, password and query.
    - `status` is 0 where no answer came.
    - `seconds` is the time until its end, `first` the time until the first words of a streamed
      answer.
    """

    url: str
    request: bytes
    began: float
    status: int = 0
    reply: bytes = b""
    seconds: float = 0.0
    first: float | None = None

    def end(self, status: int, reply: bytes) -> None:
        """Note the answer; a streamed body has come by `add` already."""
        self.status = status
        self.reply = self.reply or reply[:MOST_SHOWN]
        self.seconds = monotonic() - self.began

    def add(self, piece: bytes) -> None:
        """Note a piece of a streamed answer."""
        if self.first is None:
            self.first = monotonic() - self.began
        if len(self.reply) < MOST_SHOWN:
            self.reply += piece


wire_exchanges: Final[ContextVar[list[WireExchange] | None]] = ContextVar("wire", default=None)
"""The place where connectors note the requests of the running call; None if nobody watches."""


class CallWatch(Protocol):
    """Watches the calls of all services of an assistant; it must not block and must not raise."""

    def begin(
        self, stage: str, request: Request, wire: list[WireExchange]
    ) -> Callable[[Any], None]:
        """Take note of a call, and return the receiver of its reply or its error.

        `wire` fills while the call runs.
        """


class RunningEffect(msgspec.Struct, frozen=True):
    """The call of an acting service: its key, and the fields approved by a person.

    `fields` is None if nobody changed them.
    """

    key: str
    fields: JsonObject | None = None


running_effect: Final[ContextVar[RunningEffect | None]] = ContextVar("effect", default=None)
"""The effect that the code of a connector works on: it sends nothing twice on its own then, and
passes the key on where its protocol has a place for it."""


class CallKeeper(Protocol):
    """Keeps the calls of some services of an assistant."""

    def around(self, service: Any, connector: Connector, context: ServiceContext) -> Connector:
        """Return the connector of a service (`plan.StageService`), or a connector around it.

        The outer connector has the inner one as `kept`.
        """

    def join(self, assistant: Any) -> None:
        """Get to know the assistant, after it is made."""

    async def turn_was_cut_off(self, opening: TurnOpening) -> None:
        """Handle the end of a turn without its services' answers, before it is stored."""

    async def turn_ends(self, opening: TurnOpening, spoken: Collection[str]) -> None:
        """Note whose answers the reply of a turn is made of; called before it is stored.

        `spoken` are the skills whose hypotheses were chosen.
        """

    async def start(self) -> None:
        """Start unfinished work; the store is open."""

    async def aclose(self) -> None:
        """Stop; the last turn is over, and the store is still open."""
