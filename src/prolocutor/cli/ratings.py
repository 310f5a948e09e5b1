"""Rating by id, whatever the id is of."""

from __future__ import annotations

from typing import Any, Literal

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.store import ArchiveStore
from prolocutor.dialog.ids import timestamp
from prolocutor.errors import NotFound


async def rate(
    store: ArchiveStore, id_: str, rating: Any, assistant: Assistant | None = None
) -> Literal["dialog", "utterance"]:
    """Rate the dialog or the utterance of this id and tell which; `NotFound` if it is neither's.

    `assistant` is the one that runs on the store, if one does: it learns from ratings.
    """
    user = await store.owner_of(id_)
    try:
        await store.rate_dialog(id_, rating, user, timestamp())
    except NotFound:
        try:
            if assistant is not None:
                await assistant.rate_utterance(id_, rating, user)
            else:
                await store.rate_utterance(id_, rating, user, timestamp())
        except NotFound:
            what = f"no dialog or utterance has the id {id_}; prolocutor dialogs list shows some"
            raise NotFound(what, field="id") from None
        return "utterance"
    return "dialog"
