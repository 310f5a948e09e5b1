"""CallKeeper: wraps the connector of a service, and keeps book of its calls.

The ledger of effects and the purse are such keepers. Services without a keeper have their plain
connectors, at no cost.
"""

from __future__ import annotations

from collections.abc import Collection
from contextvars import ContextVar
from typing import Any, Final, Protocol

import msgspec

from prolocutor.contracts.connector import Connector, ServiceContext
from prolocutor.contracts.store import TurnOpening
from prolocutor.dialog.plain import JsonObject, Plain, check


class OwnReply(Plain, frozen=True, eq=False, gc=False):
    """A keeper's reply in place of the service: hypotheses, which pass no formatter."""

    @classmethod
    def of(cls, hypothesis: JsonObject) -> OwnReply:
        """Return the reply that is this hypothesis."""
        made = check([hypothesis])
        return cls(made.value, made.encoded)


class RunningEffect(msgspec.Struct, frozen=True):
    """The call of an acting service: its key, and the fields that a person approved.

    `fields` is None if nobody changed them.
    """

    key: str
    fields: JsonObject | None = None


running_effect: Final[ContextVar[RunningEffect | None]] = ContextVar("effect", default=None)
"""The effect that the code of a connector works on: it sends nothing twice on its own then, and
passes the key on where its protocol has a place for it."""

EFFECT_KEY: Final = "idempotencyKey"
"""The name of the key in the metadata of protocols that have no name for it."""


class CallKeeper(Protocol):
    """Keeps the calls of some services of one assistant."""

    def around(self, service: Any, connector: Connector, context: ServiceContext) -> Connector:
        """Return the connector of a service (`plan.StageService`), or one around it.

        That one has the connector as `kept`.
        """

    def join(self, assistant: Any) -> None:
        """Get to know the assistant, after it is made."""

    async def turn_was_cut_off(self, opening: TurnOpening) -> None:
        """Handle a turn that ends without its services' answers, before it is stored."""

    async def turn_ends(self, opening: TurnOpening, spoken: Collection[str]) -> None:
        """Note whose answers the reply of a turn is made of; called before it is stored.

        `spoken` are the skills whose hypotheses were chosen.
        """

    async def start(self) -> None:
        """Start unfinished work; the store is open."""

    async def aclose(self) -> None:
        """Stop; the last turn is over, and the store is still open."""
