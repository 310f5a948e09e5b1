"""QuestionAnswers: finds the answered questions of a conversation, and the replies to the answers.

A client of 2026-07-28 repeats an answer when it has lost the result. The utterance of an answer
names its question, which leads to the stored reply.
"""

from __future__ import annotations

from typing import Final

from prolocutor.contracts.store import Store
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.plugins.mcp.door.content import ToolReply
from prolocutor.plugins.mcp.door.persons import PersonDialog

ATTRIBUTE: Final = "mcp"
ANSWERS: Final = "answers"
"""The member of the attribute `mcp` that names the reply which asked."""

LATEST: Final = 50
"""The rows of a person's feed among which a question is looked for before the dialog is read."""


class QuestionAnswers:
    """The questions of a conversation, by the ids of the replies that asked."""

    def __init__(self, store: Store, conversation: PersonDialog) -> None:
        self._store = store
        self._place = conversation

    async def is_latest(self, utt_id: str) -> bool:
        """Return whether a reply is the last of the conversation, by the end of the feed."""
        user = self._place.user
        end = await self._store.feed_end(user)
        for row in reversed(await self._store.feed(user, max(0, end - LATEST), LATEST)):
            if row.dialog_name == self._place.id and row.message is not None:
                said = plain.decode(row.message)
                if said.get("type") == "command" or "utt_id" in said:
                    return bool(said.get("utt_id") == utt_id)
        return False

    async def is_last(self, utt_id: str) -> bool:
        """Return whether a reply is the last of the conversation."""
        said = await self._utterances()
        return bool(said) and said[-1].utt_id == utt_id

    async def find_reply(self, utt_id: str, waiting: PendingAsk | None) -> ToolReply | None:
        """Return the reply to the answer of a question, None for an unanswered question.

        `waiting` is the open ask of the last reply.
        """
        said = await self._utterances()
        for position, one in enumerate(said[:-1]):
            reply = said[position + 1]
            if _answered_question(one) == utt_id and isinstance(reply, BotUtterance):
                return ToolReply(reply, waiting if reply is said[-1] else None)
        return None

    async def _utterances(self) -> list[HumanUtterance | BotUtterance]:
        id_ = await self._store.active_dialog_id(self._place.user, self._place.id)
        dialog = None if id_ is None else await self._store.dialog(id_)
        return [] if dialog is None else list(dialog.utterances)


def _answered_question(said: HumanUtterance | BotUtterance) -> object:
    """Return the id of the reply whose question an utterance answers, or None."""
    ids = said.attributes.get(ATTRIBUTE) if isinstance(said, HumanUtterance) else None
    return ids.get(ANSWERS) if isinstance(ids, dict) else None
