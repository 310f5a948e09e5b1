"""What a dialog waits for now, in the form of a closing."""

from __future__ import annotations

import logging
from typing import Any

from prolocutor.almond.door.people import Party
from prolocutor.assistant.assistant import Assistant
from prolocutor.errors import StoreError

log = logging.getLogger(__name__)


async def expectation(assistant: Assistant, party: Party) -> dict[str, Any]:
    """Return `{"ask", "code"?, "entities"?}`; nothing is asked where the store cannot tell."""
    try:
        waiting = await assistant.waiting(party.user, party.dialog)
    except StoreError as error:
        log.error("what a dialog waits for cannot be read: %s", error)
        return {"ask": None}
    if waiting is None:
        return {"ask": None}
    return {"ask": waiting.ask, "code": waiting.code, "entities": waiting.entities}
