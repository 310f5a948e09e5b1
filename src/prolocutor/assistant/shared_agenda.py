"""SharedAgenda: the agenda of a store that several replicas share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from prolocutor.assistant.person_access import PersonAccess
from prolocutor.contracts.shared_store import SharedStore
from prolocutor.contracts.store import AgendaEntry


class SharedAgenda:
    """Finds what is due for this replica: each entry is one replica's, by its claim."""

    def __init__(self, store: SharedStore, access: PersonAccess, lease: float) -> None:
        self._store = store
        self._access = access
        self.max_sleep = lease
        """Seconds after which the claims of a replica that died are looked for."""

    async def due(self, now: float, limit: int) -> list[AgendaEntry]:
        """Return the entries that are due and this replica's; the database's clock counts."""
        del now
        return await self._store.claim_due(limit)

    async def while_held(self, user: str, deliver: Callable[[], Awaitable[None]]) -> None:
        """Deliver while no replica has a turn of the person."""
        await self._access.while_held(user, deliver)
