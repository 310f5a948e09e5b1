"""RequestQuota: what the visitor behind the running request or socket may still ask for.

The listener sets it, and what costs something spends it: a turn, an upload, a program. Code that
runs outside of a request, such as the agenda, finds none.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final, Literal, Protocol

QuotaKind = Literal["turns", "uploads", "programs"]


class RequestQuota(Protocol):
    """The quota of one visitor."""

    def spend(self, kind: QuotaKind, user: str, cost: int = 1) -> None:
        """Count one of a kind for a person; of uploads, `cost` is the number of bytes.

        Raise `QuotaExceeded`, and count nothing, where it is more than may be now.
        """


REQUEST_QUOTA: Final[ContextVar[RequestQuota | None]] = ContextVar("REQUEST_QUOTA", default=None)


def spend(kind: QuotaKind, user: str, cost: int = 1) -> None:
    """Count one of a kind for a person in the quota of the running request, if there is one."""
    quota = REQUEST_QUOTA.get()
    if quota is not None:
        quota.spend(kind, user, cost)
