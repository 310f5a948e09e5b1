"""VisitorQuota: the counters for the visitor of a request or socket."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from time import monotonic
from typing import Final

from prolocutor.contracts.http import QuotaKind, Visitor
from prolocutor.web.authentication import LOCAL, OPERATOR
from prolocutor.web.client_address import client_name
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.quotas import (
    MAX_COUNTERS,
    OpenCounters,
    RateCounters,
    ScopeCounters,
    quota_error,
)

ALL: Final = "all"
"""The name of the one counter of all anonymous visitors."""


class VisitorQuotaTable:
    """The counters of a listener: by person, secret and address, and of anonymous visitors."""

    def __init__(self, limits: ListenerLimits, clock: Callable[[], float] = monotonic) -> None:
        self.person = ScopeCounters("person", limits.person, clock)
        self.token = ScopeCounters("token", limits.token, clock)
        self.address = ScopeCounters("address", limits.address, clock)
        self.anonymous = ScopeCounters("anonymous", limits.anonymous, clock)
        self._all = (self.person, self.token, self.address, self.anonymous)
        self._known: OrderedDict[str, None] = OrderedDict()
        self._local: dict[str, VisitorQuota] = {}
        self._unlimited = VisitorQuota(self, OPERATOR, (), "")

    def rates(self) -> dict[str, RateCounters]:
        """Return the counters of rates, named by their scope and kind."""
        return {
            f"{one.scope}:{what}": rate for one in self._all for what, rate in one.rates.items()
        }

    def sockets(self) -> dict[str, OpenCounters]:
        """Return the counters of open sockets, by scope."""
        return {f"{one.scope}:sockets": one.sockets for one in self._all if one.sockets}

    def find_quota(self, visitor: Visitor, address: str) -> VisitorQuota:
        """Return the quota of a visitor from an address."""
        if visitor.kind == "operator":
            return self._operator_quota(visitor, address)
        address = client_name(address)
        shared: list[tuple[ScopeCounters, str]] = []
        if visitor.kind == "person" and visitor.user is not None:
            shared.append((self.token, visitor.user))
        shared.append((self.address, address))
        if visitor.kind == "anonymous":
            shared.append((self.anonymous, ALL))
        return VisitorQuota(self, visitor, shared, address)

    def _operator_quota(self, visitor: Visitor, address: str) -> VisitorQuota:
        if visitor is not LOCAL:
            return self._unlimited
        quota = self._local.get(address)
        if quota is None:  # one for each address of this machine that was used
            quota = self._local[address] = VisitorQuota(self, visitor, (), client_name(address))
            if len(self._local) > MAX_COUNTERS:
                self._local.clear()
        return quota

    def is_known(self, user: str) -> bool:
        """Return whether a person was here lately."""
        return user in self._known

    def note(self, user: str) -> None:
        """Note a person's visit."""
        self._known[user] = None
        self._known.move_to_end(user)
        if len(self._known) > MAX_COUNTERS:
            self._known.popitem(last=False)


class VisitorQuota:
    """Counts the requests of a visitor (`contracts.quota.RequestQuota`).

    An operator may speak for any number of persons and has no limits, except for uploads without a
    key: a visitor who is trusted only by address may come through a proxy.
    """

    __slots__ = ("_address", "_shared", "_table", "_visitor")

    def __init__(
        self,
        table: VisitorQuotaTable,
        visitor: Visitor,
        shared: Sequence[tuple[ScopeCounters, str]],
        address: str,
    ) -> None:
        self._table = table
        self._visitor = visitor
        self._shared = shared
        self._address = address

    def spend(self, kind: QuotaKind, user: str, cost: int = 1) -> None:
        """Count a request for a person; beyond a quota, raise `QuotaExceeded` and count nothing."""
        if self._visitor.kind == "operator":
            if kind != "uploads" or self._visitor is not LOCAL:
                return
            counted = [(self._table.person, user), (self._table.address, self._address)]
        else:
            counted = [(self._table.person, user), *self._shared]
        costs: list[tuple[str, int]] = [(kind, cost if kind == "backlog" else 1)]
        if kind == "uploads":
            costs.append(("upload_bytes", cost))
        fresh = self._visitor.kind == "anonymous" and not self._table.is_known(user)
        if fresh:
            costs.append(("new_persons", 1))
        for counters, name in counted:
            for what, number in costs:
                counters.check(what, name, number)
        for counters, name in counted:
            for what, number in costs:
                counters.count(what, name, number)
        if fresh:
            self._table.note(user)

    def count_socket(self, user: str) -> AbstractContextManager[None]:
        """Count another socket of a person during the context; raise `QuotaExceeded`."""
        sockets = self._table.person.sockets
        if self._visitor.kind == "operator" or sockets is None:
            return nullcontext()
        if wait := sockets.wait(user):
            raise quota_error("person", "sockets", sockets.limit, wait)
        return sockets.count_open(user)

    def open_socket(self) -> ExitStack:
        """Count another open socket until the returned stack is closed; raise `QuotaExceeded`."""
        for counters, name in self._shared:
            sockets = counters.sockets
            if sockets is not None and (wait := sockets.wait(name)):
                raise quota_error(counters.scope, "sockets", sockets.limit, wait)
        opened = ExitStack()
        for counters, name in self._shared:
            if counters.sockets is not None:
                opened.enter_context(counters.sockets.count_open(name))
        return opened
