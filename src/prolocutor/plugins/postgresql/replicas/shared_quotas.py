"""SharedQuotas: the counters of a listener, kept together with other replicas' counters.

Nothing waits for the store. A replica answers from the last totals it heard and its own count since
then. Of the rest left by the totals it lets its part through before a report: the rest divided by
the number of replicas. So replicas flooded at the same moment let through the limit together. A
count is reported when it reaches an eighth of this part, and each second every replica hears of all
counters more than half full.

Requests may exceed a limit by an unreported eighth for each replica, and, if a replica is
flooded within a second after another replica, by the second replica's part.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Final

from prolocutor.background import BackgroundTasks
from prolocutor.errors import StoreError
from prolocutor.plugins.postgresql.replicas.shared_store import (
    CounterTotals,
    CounterUse,
    SharedCounters,
)
from prolocutor.web.quotas import OpenCounters, RateCounters

log = logging.getLogger(__name__)

REPORT_INTERVAL: Final = 1.0
"""Seconds between two reports where nothing is urgent."""

URGENT_INTERVAL: Final = 0.02
"""Seconds between two reports where much is urgent; what is counted meanwhile goes together."""

REPORT_FRACTION: Final = 8
"""A count is reported early when it reaches this fraction (1/8) of a replica's part."""

REPORTS_PER_REFRESH: Final = 30
"""Reports after which all open sockets are reported anew, as the database may have lost them."""

MAX_REPORTED: Final = 2_000
"""Counters in one report; the others wait for the next."""


class SharedQuotas:
    """Reports the counts of this replica, and applies the counts of all.

    `rates` and `sockets` by names, the same at all replicas. Nothing is reported while
    `ready` says no: then the store cannot be reached.
    """

    def __init__(
        self,
        counters: SharedCounters,
        rates: Mapping[str, RateCounters],
        sockets: Mapping[str, OpenCounters],
        *,
        ready: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.replicas = 1
        """The number of living replicas."""
        self.urgent = asyncio.Event()
        """Set when a report should not wait for a second."""
        self._counters = counters
        self._ready = ready
        self._shares = [SharedRates(label, each, self, clock) for label, each in rates.items()]
        self._sockets = [SharedSockets(label, each, self) for label, each in sockets.items()]
        self._reports = 0
        self._tasks = BackgroundTasks("shared quotas")

    def start(self) -> None:
        """Report in the background from now on."""
        self.urgent.set()
        self._tasks.start(self._report_often())

    async def aclose(self) -> None:
        """Stop reporting."""
        await self._tasks.aclose()

    async def report(self) -> None:
        """Report once, and apply the counts of all; raise `StoreError`."""
        taken: dict[str, tuple[SharedRates, str, float]] = {}
        for share in self._shares:
            for name, spent in share.due(MAX_REPORTED - len(taken)):
                taken[share.digest(name)] = share, name, spent
        uses = [CounterUse(key, spent, share.period) for key, (share, _, spent) in taken.items()]
        self._reports += 1
        everything = self._reports % REPORTS_PER_REFRESH == 0
        opened: dict[str, int] = {}
        for socket in self._sockets:
            opened |= socket.list_changed(everything=everything)
        totals = await self._counters.count_together(uses, opened)
        self.replicas = totals.replicas
        for digest, (share, name, spent) in taken.items():
            share.settle(name, spent, totals.ahead[digest])
        for share in self._shares:
            share.hear(totals)
        for sockets in self._sockets:
            sockets.hear(totals)

    async def _report_often(self) -> None:
        failing = False
        while True:
            try:
                async with asyncio.timeout(REPORT_INTERVAL):
                    await self.urgent.wait()
            except TimeoutError:
                pass
            self.urgent.clear()
            try:
                if self._ready():
                    await self.report()
                    failing = False
            except StoreError as error:
                if not failing:
                    log.warning("quotas are counted by each replica alone: %s", error)
                failing = True
            except Exception:
                log.exception("quotas cannot be reported")
            await asyncio.sleep(URGENT_INTERVAL)


class SharedRates:
    """The part of other replicas in counters of a kind, as known here (`CounterShare`)."""

    def __init__(
        self, label: str, rates: RateCounters, whole: SharedQuotas, clock: Callable[[], float]
    ) -> None:
        self.period = rates.period
        self._label = label
        self._rates = rates
        self._whole = whole
        self._clock = clock
        self._unsent: dict[str, tuple[float, float]] = {}
        """Seconds that were not reported yet, and the time of the first of them."""
        self._due: dict[str, None] = {}
        self._heard: dict[str, float] = {}
        """When counters that are more than half full are empty, by digest."""
        rates.share = self

    def digest(self, name: str) -> str:
        """Return the name of a counter in the store."""
        return _digest(self._label, name)

    def ahead(self, name: str, here: float) -> float:
        """Return in how many seconds a counter is empty."""
        if not self._heard:
            return here
        heard = self._heard.get(self.digest(name))
        return here if heard is None else max(here, heard - self._clock())

    def wait(self, name: str, seconds: float, ahead: float) -> float:
        """Return 0.0 where so much may be taken before others have heard of it, else a pause."""
        unsent = self._fresh(name)
        if not unsent or unsent + seconds <= self._part(ahead - unsent):
            return 0.0
        self._due[name] = None
        self._whole.urgent.set()
        return REPORT_INTERVAL

    def count(self, name: str, seconds: float, ahead: float) -> None:
        """Note a count, for the other replicas."""
        if self._whole.replicas == 1:
            return
        unsent = self._fresh(name)
        since = self._unsent[name][1] if unsent else self._clock()
        self._unsent[name] = unsent + seconds, since
        if unsent + seconds >= self._part(ahead - unsent) / REPORT_FRACTION:
            self._due[name] = None
            self._whole.urgent.set()
        if len(self._unsent) > MAX_REPORTED:
            self._unsent.pop(next(iter(self._unsent)))

    def due(self, at_most: int) -> Iterator[tuple[str, float]]:
        """Take the counts worth a report: names, with the counted seconds."""
        for name in list(self._due)[: max(0, at_most)]:
            del self._due[name]
            if unsent := self._fresh(name):
                yield name, unsent

    def settle(self, name: str, spent: float, ahead: float) -> None:
        """Note `spent` as reported, and the seconds until the counter is then empty."""
        unsent, since = self._unsent.pop(name, (spent, 0.0))
        if unsent > spent:
            self._unsent[name] = unsent - spent, since
        self._rates.set_ahead(name, ahead + max(0.0, unsent - spent))

    def hear(self, totals: CounterTotals) -> None:
        """Note which counters are more than half full."""
        now = self._clock()
        self._heard = {digest: now + ahead for digest, ahead in totals.ahead.items()}

    def _part(self, ahead: float) -> float:
        """Return this replica's part of a counter's rest; `ahead`: seconds until it is empty."""
        return (self.period - min(max(ahead, 0.0), self.period)) / self._whole.replicas

    def _fresh(self, name: str) -> float:
        """Return the unreported counts, without counts older than a period."""
        unsent, since = self._unsent.get(name, (0.0, 0.0))
        if unsent and self._clock() > since + self.period:
            del self._unsent[name]
            return 0.0
        return unsent


class SharedSockets:
    """The open sockets of other replicas, as known here (`OpenShare`)."""

    def __init__(self, label: str, sockets: OpenCounters, whole: SharedQuotas) -> None:
        self._label = label
        self._sockets = sockets
        self._whole = whole
        self._reported: dict[str, int] = {}
        self._sending: dict[str, int] = {}
        self._elsewhere: Mapping[str, int] = {}
        sockets.share = self

    def most(self, name: str, here: int, limit: int) -> int:
        """Return the number of open sockets, as it may be when other replicas hear of another."""
        if self._whole.replicas == 1:
            return here
        key = self._key(name)
        elsewhere, told = self._elsewhere.get(key, 0), self._reported.get(name, 0)
        part = max(1, (limit - told - elsewhere) // self._whole.replicas)
        if here - told >= part:
            self._whole.urgent.set()
            return limit
        return here + elsewhere

    def list_changed(self, *, everything: bool) -> dict[str, int]:
        """Return the number of open sockets by the key of each name whose number is to be reported.

        A number is reported once it is an eighth of this replica's part, then whenever it
        has changed; `everything` also repeats unchanged numbers.
        """
        numbers, reported = self._sockets.open, self._reported
        few = self._sockets.limit / (REPORT_FRACTION * self._whole.replicas)
        self._sending = {
            name: number
            for name in list(numbers.keys() | reported.keys())[:MAX_REPORTED]
            if (number := numbers.get(name, 0)) >= few or name in reported
            if everything or number != reported.get(name, 0)
        }
        return {self._key(name): number for name, number in self._sending.items()}

    def hear(self, totals: CounterTotals) -> None:
        """Note a sent report, and the numbers of sockets open at other replicas."""
        self._reported |= self._sending
        self._reported = {name: number for name, number in self._reported.items() if number}
        self._elsewhere = totals.open_elsewhere

    def _key(self, name: str) -> str:
        return _digest(self._label, name)


def _digest(label: str, name: str) -> str:
    """Return the name of a counter in the store, which does not reveal the person."""
    key = label.encode()
    return hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=16, key=key).hexdigest()
