"""CallKeeper: stands between the guard of a service and its connector, and keeps its calls.

The ledger of effects and the purse are such keepers. A service that none of them keeps has its
connector as it is: it costs nothing.
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
    """A reply that a keeper gives in place of the service: hypotheses, which no formatter reads."""

    @classmethod
    def of(cls, hypothesis: JsonObject) -> OwnReply:
        """Return the reply that is this hypothesis."""
        made = check([hypothesis])
        return cls(made.value, made.encoded)


class RunningEffect(msgspec.Struct, frozen=True):
    """The call of a service that acts: its key, and what a person let it do with these fields.

    `fields` is None where nobody changed what is done.
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
        """Get to know the assistant, once it is made."""

    async def turn_was_cut_off(self, opening: TurnOpening) -> None:
        """Note that a turn ends without what its services answered; called before it is stored."""

    async def turn_ends(self, opening: TurnOpening, spoken: Collection[str]) -> None:
        """Note whose answers the reply of a turn is made of; called before it is stored.

        `spoken` are the skills whose hypotheses were chosen.
        """

    async def start(self) -> None:
        """Begin with what is left to do: the store is open."""

    async def aclose(self) -> None:
        """Stop; the last turn is over, and the store is open."""
