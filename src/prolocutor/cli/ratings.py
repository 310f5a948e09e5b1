"""Rating by id, whatever the id is of."""

from __future__ import annotations

from typing import Any, Literal

from prolocutor.contracts.store import Archive
from prolocutor.dialog.ids import timestamp
from prolocutor.errors import NotFound


async def rate(store: Archive, id_: str, rating: Any) -> Literal["dialog", "utterance"]:
    """Rate the dialog or the utterance of this id and tell which; `NotFound` if it is neither's."""
    user = await store.owner_of(id_)
    try:
        await store.rate_dialog(id_, rating, user, timestamp())
    except NotFound:
        try:
            await store.rate_utterance(id_, rating, user, timestamp())
        except NotFound:
            what = f"no dialog or utterance has the id {id_}; prolocutor dialogs list shows some"
            raise NotFound(what, field="id") from None
        return "utterance"
    return "dialog"
