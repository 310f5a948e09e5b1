"""AgendaStore: what is to be said or done at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from prolocutor.contracts.store.feed_store import NO_ASK_CLOSING
from prolocutor.contracts.store.new_dialog import NewDialog

MAX_AGENDA_ENTRIES: Final = 1000
"""The most entries that a person has on the agenda."""


class AgendaEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Something to be said to a person, or done for them, at a time.

    `key` is the skill's own name for it: another entry of the same person, skill and key replaces
    it. `due` is a time in seconds (UNIX). `body` (JSON) is for the one that carries it out.
    `dropped` counts the entries that were removed before this one because a person has only so
    many. The person need not exist yet.
    """

    user: str
    dialog_name: str = "main"
    skill: str
    key: str
    due: float
    body: bytes
    dropped: int = 0


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """What the assistant says unasked, stored in one transaction with what becomes of its entry.

    `messages` become feed rows as in `TurnClosing`, the last with `closing`; without messages there
    is no row. `round` replaces the dialog's round (None: it stays). `entry` is taken off the
    agenda, or replaced by `again`; `struck` and `entries` change it as in `TurnClosing`.
    `date_time` is the agent state time. `new_dialog` is used where the person or an active dialog
    of that name does not exist: they are made, as by `open_turn`, if there are messages or a round.
    """

    user: str
    dialog_name: str = "main"
    messages: Sequence[bytes] = ()
    closing: bytes = NO_ASK_CLOSING
    round: bytes | None = None
    entry: AgendaEntry | None = None
    again: AgendaEntry | None = None
    entries: Sequence[AgendaEntry] = ()
    struck: Sequence[tuple[str, str]] = ()
    date_time: str
    channel_type: str = "assistant"
    new_dialog: NewDialog


class AgendaStore(Protocol):
    """An entry stays until it is delivered or struck.

    Entries with the same `due` keep the order in which they were written.
    """

    async def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry, in place of one of the same user, skill and key.

        A person has at most `limit` entries (at least one). Beyond that one of the others is
        removed: the earliest by `due` of the skill that has most. The earliest entry that is left
        then counts it in `dropped`, together with all that the removed one had counted.
        """

    async def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; return False if there is none."""

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries with `due <= now`, earliest first."""

    async def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""

    async def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries (of one skill), earliest first."""

    async def deliver(self, delivery: Delivery) -> bool:
        """Write the messages and settle the entry, in one transaction.

        Return False, and change nothing, if `delivery.entry` is not on the agenda any more exactly
        as it was given.
        """
