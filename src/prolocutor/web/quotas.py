"""Quotas: limits for visitors in a period, by person, secret and address, and for all together.

A counter is a number, the time at which it is empty again (the generic cell rate algorithm of ATM),
so a flood costs a look-up per request. Replicas on the same store learn each other's counts by a
`CounterShare` (`assistant/sharing.py`).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Annotated, ClassVar, Final, Protocol

import msgspec
from msgspec import Meta

from prolocutor.bounds import MANY, about
from prolocutor.clocks import HOUR, MINUTE
from prolocutor.errors import QuotaExceeded

MAX_COUNTERS: Final = 100_000
"""Counters of one kind; beyond that the one that was used longest ago is forgotten."""

Quota = Annotated[int, Meta(ge=1, le=MANY)] | None
"""The largest number; None for no limit."""


QUOTA_WORDS: Final = {
    "turns": "turns a minute",
    "sockets": "open sockets",
    "uploads": "uploads a minute",
    "upload_bytes": "bytes uploaded a minute",
    "programs": "programs a minute",
    "backlog": "earlier messages a minute",
    "new_persons": "new persons an hour",
}


def _quota(name: str, more: str = "") -> Meta:
    words = QUOTA_WORDS[name]
    return about(f"{words.capitalize()}{more}.", unit=words, words={"unlimited": None})


class VisitorQuotas(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a person, a secret, an address, or all anonymous visitors.

    None stands for any number.
    """

    expected: ClassVar[str] = "a map of quotas"

    turns: Annotated[Quota, _quota("turns")] = None
    sockets: Annotated[
        Quota, _quota("sockets", "; of a person, WebSockets that follow a conversation")
    ] = None
    uploads: Annotated[Quota, _quota("uploads", ", which are pictures")] = None
    upload_bytes: Annotated[Quota, _quota("upload_bytes")] = None
    programs: Annotated[Quota, _quota("programs", ", that are started outside of dialogs")] = None
    backlog: Annotated[Quota, _quota("backlog", " that are shown or searched again")] = None
    new_persons: Annotated[
        Quota, _quota("new_persons", ", who are anonymous and were not here before")
    ] = None


PERSON: Final = VisitorQuotas(
    turns=300,
    sockets=100,
    uploads=20,
    upload_bytes=10_000_000,
    programs=60,
    backlog=20_000,
)
TOKEN: Final = VisitorQuotas(
    turns=600,
    sockets=100,
    uploads=30,
    upload_bytes=10_000_000,
    programs=120,
    backlog=40_000,
)
ADDRESS: Final = VisitorQuotas(
    turns=1_200,
    sockets=500,
    uploads=30,
    upload_bytes=10_000_000,
    programs=120,
    backlog=100_000,
    new_persons=500,
)
ANONYMOUS: Final = VisitorQuotas(
    turns=12_000,
    sockets=5_000,
    uploads=300,
    upload_bytes=200_000_000,
    programs=600,
    backlog=1_000_000,
    new_persons=20_000,
)


class CounterShare(Protocol):
    """A replica's knowledge of the other replicas' counts of a kind, in seconds."""

    def ahead(self, name: str, here: float) -> float:
        """Return the seconds until a counter is empty, by the counts `here` and elsewhere."""

    def wait(self, name: str, seconds: float, ahead: float) -> float:
        """Return 0.0 if `seconds` may be counted before other replicas know, else a pause."""

    def count(self, name: str, seconds: float, ahead: float) -> None:
        """Note a count for the other replicas; `ahead` does not include it."""


class OpenShare(Protocol):
    """A replica's knowledge of the open sockets at other replicas."""

    def most(self, name: str, here: int, limit: int) -> int:
        """Return the number open, or open by the time other replicas hear of another."""


class RateCounters:
    """Counters of a kind by name: each permits `limit` in `period` seconds, at once or spread.

    `clock` returns seconds. `share` is set if replicas count together.
    """

    def __init__(
        self,
        limit: int,
        period: float,
        clock: Callable[[], float] = monotonic,
        at_most: int = MAX_COUNTERS,
    ) -> None:
        self.limit = limit
        self.period = period
        self.share: CounterShare | None = None
        self._step = period / limit
        self._clock = clock
        self._at_most = at_most
        self._empty_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of counters."""
        return len(self._empty_at)

    def wait(self, name: str, cost: int = 1) -> float:
        """Return the seconds until `cost` is permitted, 0.0 for now, without counting it.

        An empty counter permits a cost above the whole limit.
        """
        now, share = self._clock(), self.share
        ahead = self._empty_at.get(name, now) - now
        if share is not None:
            ahead = share.ahead(name, ahead)
        if ahead <= 0.0:
            return 0.0
        seconds = min(cost, self.limit) * self._step
        wait = max(0.0, ahead + seconds - self.period)
        return wait if wait or share is None else share.wait(name, seconds, ahead)

    def count(self, name: str, cost: int = 1) -> None:
        """Count so much."""
        now, share = self._clock(), self.share
        ahead = max(self._empty_at.pop(name, now) - now, 0.0)
        if share is not None:
            ahead = share.ahead(name, ahead)
            share.count(name, cost * self._step, ahead)
        self.set_ahead(name, ahead + cost * self._step)

    def set_ahead(self, name: str, ahead: float) -> None:
        """Set the seconds until a counter is empty."""
        self._empty_at[name] = self._clock() + ahead
        if len(self._empty_at) > self._at_most:
            self._empty_at.popitem(last=False)


class OpenCounters:
    """The numbers of open sockets by name; `share` is set if replicas count together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.share: OpenShare | None = None
        self.open: dict[str, int] = {}
        """The number open at this replica, by name."""

    def wait(self, name: str) -> float:
        """Return 0.0 if another may be opened, else the seconds until another try."""
        number = self.open.get(name, 0)
        if self.share is not None:
            number = self.share.most(name, number, self.limit)
        return 1.0 if number >= self.limit else 0.0

    @contextmanager
    def count_open(self, name: str) -> Iterator[None]:
        """Return a context during which another is open."""
        self.open[name] = self.open.get(name, 0) + 1
        try:
            yield
        finally:
            self.open[name] -= 1
            if not self.open[name]:
                del self.open[name]


class ScopeCounters:
    """All counters of a scope, such as `address`."""

    def __init__(self, scope: str, quotas: VisitorQuotas, clock: Callable[[], float]) -> None:
        self.scope = scope
        self._rates = {
            what: RateCounters(limit, HOUR if what == "new_persons" else MINUTE, clock)
            for what in ("turns", "uploads", "upload_bytes", "programs", "backlog", "new_persons")
            if (limit := getattr(quotas, what)) is not None
        }
        self.sockets = None if quotas.sockets is None else OpenCounters(quotas.sockets)

    @property
    def rates(self) -> Mapping[str, RateCounters]:
        """The counters by kind, except sockets."""
        return self._rates

    def check(self, what: str, name: str, cost: int) -> None:
        """Raise `QuotaExceeded` if `cost` is not permitted now."""
        rate = self._rates.get(what)
        if rate is not None and (wait := rate.wait(name, cost)):
            raise quota_error(self.scope, what, rate.limit, wait)

    def count(self, what: str, name: str, cost: int) -> None:
        """Count so much."""
        rate = self._rates.get(what)
        if rate is not None:
            rate.count(name, cost)


def quota_error(scope: str, what: str, limit: int, wait: float) -> QuotaExceeded:
    """Return the error with the exceeded quota, and the seconds until another try."""
    whose = "all anonymous visitors" if scope == "anonymous" else f"one {scope}"
    seconds = max(1, math.ceil(wait))
    return QuotaExceeded(
        f"{limit:,} {QUOTA_WORDS[what]} are allowed for {whose}; try again in {seconds} s", seconds
    )
