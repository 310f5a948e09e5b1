"""ServiceStatus: what is known of a service from outside of the engine."""

from __future__ import annotations

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.pipeline.circuit_breaker import BreakerState
from prolocutor.pipeline.prepared import PreparedPipeline
from prolocutor.plan.pipeline import Stage


class ServiceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A service and its state at one moment.

    `breaker` is `closed` while the service is asked as usual. `in_flight` counts the calls that
    run now, cancelled ones that run on included; `max_in_flight` bounds it. `timeout` is in
    seconds. `card` and `icon` are as declared. `off` says by whom it is switched off, if it is.
    """

    name: str
    stage: Stage
    breaker: BreakerState
    in_flight: int
    max_in_flight: int
    timeout: float
    card: JsonObject | None = None
    icon: str | None = None
    off: str | None = None


def services_of(prepared: PreparedPipeline) -> list[ServiceStatus]:
    """Return the status of every service, in declared order, the last chance at the end."""
    return [
        ServiceStatus(
            name=step.name,
            stage=step.stage,
            breaker=step.guard.breaker.state,
            in_flight=step.guard.in_flight,
            max_in_flight=step.service.max_in_flight,
            timeout=step.service.timeout,
            card=step.service.card_members or None,
            icon=getattr(step.service, "icon", None),
            off=step.off,
        )
        for step in prepared.every()
    ]
