"""Services from outside of the engine: their state, and switching them off and on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.contracts.store import RecordStore
from prolocutor.dialog import plain
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import StoreError
from prolocutor.pipeline.guard import BreakerState
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.plan.pipeline import Stage

log = logging.getLogger(__name__)

RECORDS: Final = "switch"
"""The kind of the records; the key is `stage.name`."""


class ServiceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A service and its state at a moment.

    `breaker` is `closed` while the service is asked as usual. `in_flight` counts the calls that run
    now, including cancelled calls that run on; `max_in_flight` bounds it. `timeout` is in seconds.
    `card` and `icon` are as declared. `off` says by whom it is switched off, if it is.
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


def service_statuses(prepared: PreparedPipeline) -> list[ServiceStatus]:
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


class SwitchedOffBy(msgspec.Struct, frozen=True):
    """Who has switched a service off, and since when (UNIX seconds)."""

    by: str
    at: float

    @property
    def reason(self) -> str:
        """Why the service is skipped."""
        return f"switched off by {self.by}"


class ServiceSwitches:
    """Skips the services that are switched off, from the next service of a running turn on.

    They stay off until they are switched on, also after a restart and at all replicas: `refresh`
    reads the switches of others, `tell_others` says that there is something to read.
    """

    def __init__(
        self,
        store: RecordStore,
        prepared: PreparedPipeline,
        tell_others: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._steps = {switch_key(one): one for one in prepared.every()}
        self._tell_others = tell_others
        self._off: dict[str, SwitchedOffBy] = {}
        self._lock = asyncio.Lock()
        self.listeners: list[Callable[[ServiceStep], None]] = []
        """Called with each service that was switched, here or elsewhere."""

    def who_switched(self, step: ServiceStep) -> SwitchedOffBy | None:
        """Return who has switched a service off; None where it is on."""
        return self._off.get(switch_key(step))

    async def switch(self, step: ServiceStep, *, on: bool, by: str) -> None:
        """Switch a service on or off, durably; a service that is off already stays as it is."""
        key = switch_key(step)
        async with self._lock:
            if on:
                await self._store.delete_record("", RECORDS, key)
                self._take(key, None)
            elif key not in self._off:
                now = SwitchedOffBy(by, time.time())
                await self._store.put_record("", RECORDS, key, plain.encode(now))
                self._take(key, now)
        self._tell_others()

    async def refresh(self) -> None:
        """Read from the store which services are switched off."""
        async with self._lock:
            stored = await self._store.records("", RECORDS)
            for key in self._steps:
                self._take(key, _read(key, stored.get(key)))

    async def look_again(self) -> None:
        """Read it again where another replica may have switched something."""
        try:
            await self.refresh()
        except StoreError as error:
            log.warning("the list of services that are switched off cannot be read: %s", error)

    def _take(self, key: str, off: SwitchedOffBy | None) -> None:
        if off == self._off.get(key):
            return
        if off is None:
            del self._off[key]
        else:
            self._off[key] = off
        step = self._steps[key]
        step.switch(None if off is None else off.reason)
        log.warning("service %s is %s", key, "on again" if off is None else off.reason)
        for listener in self.listeners:
            listener(step)


def switch_key(step: ServiceStep) -> str:
    """Return the key of a service's record."""
    return f"{step.stage_name}.{step.name}"


def _read(key: str, body: bytes | None) -> SwitchedOffBy | None:
    if body is None:
        return None
    try:
        return msgspec.json.decode(body, type=SwitchedOffBy)
    except msgspec.DecodeError:
        log.warning("the record that switches %s off cannot be read", key)
        return SwitchedOffBy("an operator", 0.0)
