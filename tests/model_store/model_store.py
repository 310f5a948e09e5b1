"""ModelStore: all promises of a store over one `ModelState`, but for records of turns."""

from __future__ import annotations

from tests.model_store.agenda_store import ModelAgendaStore
from tests.model_store.archive_store import ModelArchiveStore
from tests.model_store.conversation_store import ModelConversationStore
from tests.model_store.state import ModelState
from tests.model_store.turn_store import ModelTurnStore


class ModelStore(ModelTurnStore, ModelAgendaStore, ModelConversationStore, ModelArchiveStore):
    """Everything in dictionaries of this process; no method ever waits."""

    def __init__(self) -> None:
        super().__init__(ModelState())
