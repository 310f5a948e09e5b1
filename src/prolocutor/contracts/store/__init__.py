"""Store: keeps the dialogs. Six promises, one file each, split by who uses them.

`TurnStore` is what a turn needs: two trips, `open_turn` and `close_turn`. `FeedStore` is everything
said to or by a person, in order. `AgendaStore` is what is to be done at a time, `RecordStore` small
documents of a person beside the dialogs, `ConversationStore` a person's
conversations, `ArchiveStore` looks up, rates, exports and deletes.

Life cycle: `open` once before anything else, `aclose` once at the end. All methods may be called
from one event loop by many tasks at once. What a method returned has happened durably (as far as
the store is durable at all). A method that raised `StoreError` has changed nothing.

Exactly one turn of a person is open at any time, and `deliver` comes between the turns of its
person: the assistant's queue ensures both. The caller makes ids and times, never the store.
"""

from __future__ import annotations

from typing import Protocol

from prolocutor.contracts.store.agenda_store import (
    MAX_AGENDA_ENTRIES,
    AgendaEntry,
    AgendaStore,
    Delivery,
)
from prolocutor.contracts.store.archive_store import (
    ALL_DIALOGS,
    ArchiveStore,
    DialogQuery,
    RatedReply,
)
from prolocutor.contracts.store.conversation_store import ConversationRow, ConversationStore
from prolocutor.contracts.store.feed_store import NO_ASK_CLOSING, NO_ROUND, FeedRow, FeedStore
from prolocutor.contracts.store.new_dialog import NewDialog
from prolocutor.contracts.store.record_store import NewRecord, RecordStore, StoredDocument
from prolocutor.contracts.store.turn_store import (
    AnsweredRequest,
    NewProfileVersion,
    NewUtterance,
    OpenedTurn,
    ProfileVersion,
    TurnClosing,
    TurnOpening,
    TurnStore,
    UnfinishedTurn,
    UtteranceParts,
)

__all__ = [
    "ALL_DIALOGS",
    "MAX_AGENDA_ENTRIES",
    "NO_ASK_CLOSING",
    "NO_ROUND",
    "AgendaEntry",
    "AgendaStore",
    "AnsweredRequest",
    "ArchiveStore",
    "ConversationRow",
    "ConversationStore",
    "Delivery",
    "DialogQuery",
    "FeedRow",
    "FeedStore",
    "NewDialog",
    "NewProfileVersion",
    "NewRecord",
    "NewUtterance",
    "OpenedTurn",
    "ProfileVersion",
    "RatedReply",
    "RecordStore",
    "Store",
    "StoredDocument",
    "TurnClosing",
    "TurnOpening",
    "TurnStore",
    "UnfinishedTurn",
    "UtteranceParts",
]


class Store(
    TurnStore, FeedStore, AgendaStore, RecordStore, ConversationStore, ArchiveStore, Protocol
):
    """A whole store: what SQLite and the in-memory store both implement."""
