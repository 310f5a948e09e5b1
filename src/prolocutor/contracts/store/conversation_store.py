"""ConversationStore: a person's conversations, as the person sees them, and what was said there.

A conversation is all dialogs of one name of a person, those that were closed included.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from prolocutor.contracts.store.feed_store import FeedRow


class ConversationRow(msgspec.Struct, frozen=True):
    """One conversation: its name, the number `n` of its last row in the feed, and `at`.

    `at` is the agent state time of its last utterance, or of its beginning. `first` is the first
    message of the person there (JSON), None where the assistant alone has said something.
    """

    name: str
    n: int
    at: str
    first: bytes | None


class ConversationStore(Protocol):
    """Reads and deletes conversations."""

    async def conversations(
        self, user: str, before: int | None = None, limit: int = 50
    ) -> list[ConversationRow]:
        """Return up to `limit` conversations with `n < before`, the latest first.

        One in which nothing is left in the feed is not there.
        """

    async def feed_before(
        self, user: str, before: int | None = None, limit: int = 100
    ) -> list[FeedRow]:
        """Return up to `limit` rows with `n < before`, the latest first.

        What is said in a turn that runs is not among them.
        """

    async def delete_conversation(self, user: str, dialog_name: str) -> int:
        """Delete the dialogs of that name in which no turn runs; return their number.

        Numbers and ids of the feed are not given again.
        """
