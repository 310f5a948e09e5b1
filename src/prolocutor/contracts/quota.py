"""RequestQuota: what the visitor behind the running request or socket may still ask for.

The listener sets it, and what costs something spends it: a turn, an upload, a program,
a message that is shown again. Code that
runs outside of a request, such as the agenda, finds none.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final, Literal, Protocol

QuotaKind = Literal["turns", "uploads", "programs", "backlog"]


class RequestQuota(Protocol):
    """The quota of one visitor."""

    def spend(self, kind: QuotaKind, user: str, cost: int = 1) -> None:
        """Count one of a kind for a person; of uploads, `cost` is the number of bytes.

        Of the backlog `cost` is the number of messages that were said before and are shown again.
        Raise `QuotaExceeded`, and count nothing, where it is more than may be now.
        """

    def open_socket_of(self, user: str) -> AbstractContextManager[None]:
        """Return a context in which a person has one more socket open; raise `QuotaExceeded`."""


REQUEST_QUOTA: Final[ContextVar[RequestQuota | None]] = ContextVar("REQUEST_QUOTA", default=None)


def spend(kind: QuotaKind, user: str, cost: int = 1) -> None:
    """Count one of a kind for a person in the quota of the running request, if there is one."""
    quota = REQUEST_QUOTA.get()
    if quota is not None:
        quota.spend(kind, user, cost)


def open_socket_of(user: str) -> AbstractContextManager[None]:
    """Return a context in which a person has one more socket open; raise `QuotaExceeded`."""
    quota = REQUEST_QUOTA.get()
    return nullcontext() if quota is None else quota.open_socket_of(user)
