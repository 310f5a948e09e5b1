"""StoreHealth: whether turns can be stored, known by the last turn and by trying."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Final

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.store import RecordStore
from prolocutor.errors import (
    DeclaredDead,
    PersonBusy,
    PersonMoved,
    PersonUnreadable,
    RoundChanged,
    StoreError,
    StoreLost,
    TakenOver,
)

log = logging.getLogger(__name__)

FRESH_SECONDS: Final = 1.0
"""Seconds for which what was found counts."""

CHECK_TIMEOUT: Final = 2.0
"""Seconds after which a store that does not answer counts as one that fails."""

MOST_UNREADABLE: Final = 1000
"""Persons that cannot be read who are named."""

KIND: Final = "store-health"
"""The kind of the assistant's own record that is written to try."""

_SMALL, _LARGE = b"{}", b'"%b"' % (b"0" * 65_536)
"""The bodies of a trial record. After a failure it is the large one: a disk with room for it has
room for a turn."""

_OF_PERSONS: Final = (
    DeclaredDead, PersonBusy, PersonMoved, PersonUnreadable, RoundChanged, TakenOver
)  # fmt: skip
"""Errors that concern a single person or turn: the store works for all others."""


class StoreHealth:
    """The outcomes of the last turns; without a recent turn, a record is written to try.

    `on_lost` is called when the store was taken over by another process, which is for good.
    """

    def __init__(self, store: RecordStore, clock: Callable[[], float] = monotonic) -> None:
        self.fault: StoreError | None = None
        """The error by which turns cannot be stored; None if they can, as far as is known."""
        self.unreadable: dict[str, str] = {}
        """The users of whom what is stored could not be read, and why; not more than some."""
        self.on_lost: Callable[[StoreLost], None] | None = None
        self._store = store
        self._clock = clock
        self._known_until = 0.0
        self._trial = BackgroundTasks("store health")

    def note_stored(self) -> None:
        """Note that a turn was stored."""
        self._known_until = self._clock() + FRESH_SECONDS
        if self.fault is not None:
            log.warning("the store works again: turns can be stored")
            self.fault = None

    def note_failed(self, error: StoreError) -> None:
        """Note that something could not be stored."""
        if isinstance(error, PersonUnreadable):
            self._note_unreadable(error)
        if isinstance(error, _OF_PERSONS):
            return
        if self.fault is None:
            log.error("turns cannot be stored: %s", error)
        self.fault = error
        self._known_until = self._clock() + FRESH_SECONDS
        if isinstance(error, StoreLost) and self.on_lost is not None:
            self.on_lost(error)

    def _note_unreadable(self, error: PersonUnreadable) -> None:
        if error.user not in self.unreadable and len(self.unreadable) < MOST_UNREADABLE:
            self.unreadable[error.user] = str(error)
            log.error(
                "user %r: %s; their turns fail until it is repaired: stop the assistants, then"
                " prolocutor store check --repair",
                error.user,
                error,
            )

    async def check(self) -> StoreError | None:
        """Return why no turn can be stored now; None where a turn can be stored.

        The store is tried at most once a second, however many ask.
        """
        if self._clock() < self._known_until:
            return self.fault
        if not self._trial:
            self._trial.start(self._try())
        if not await self._trial.wait_until_ended(CHECK_TIMEOUT):
            self.note_failed(StoreError("the store does not answer"))
        return self.fault

    async def aclose(self) -> None:
        """Stop trying."""
        await self._trial.aclose()

    async def _try(self) -> None:
        body = _SMALL if self.fault is None else _LARGE
        try:
            await self._store.put_record("", KIND, "trial", body)
        except StoreError as error:
            self.note_failed(error)
        except Exception as error:
            log.exception("the store could not be checked")
            self.note_failed(StoreError(str(error)))
        else:
            self.note_stored()
