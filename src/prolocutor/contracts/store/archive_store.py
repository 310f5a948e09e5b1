"""ArchiveStore: looks dialogs up, rates, exports and deletes them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final, Protocol

import msgspec

from prolocutor.dialog import plain
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import DialogId
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance


class DialogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which dialogs are wanted, oldest first; a condition that is None does not count.

    `skill` spoke in the dialog. `rating` (a JSON value) was given to the dialog or to one of its
    utterances. It started at or after `since` and before `until` (agent state times). Its id comes
    after the id `after`.
    """

    user: str | None = None
    skill: str | None = None
    rating: Any = None
    since: str | None = None
    until: str | None = None
    active: bool | None = None
    after: str | None = None
    offset: int = 0
    limit: int = 100


ALL_DIALOGS: Final = DialogQuery()


class RatedReply(msgspec.Struct, frozen=True):
    """A rating of a reply: what `user` asked, which skill replied, and what the rating is.

    Later ratings have higher numbers.
    """

    number: int
    utt_id: str
    user: str
    question: str
    skill: str
    rating: Any


class _StoredWords(msgspec.Struct):
    text: str
    active_skill: str = ""


_SAID: Final = msgspec.json.Decoder(_StoredWords)


def rated_reply(
    number: int, utt_id: str, user: str, asked: bytes, replied: bytes, rating: str
) -> RatedReply:
    """Return a rating of the bodies of two utterances; `rating` is JSON."""
    question, skill = _SAID.decode(asked).text, _SAID.decode(replied).active_skill
    return RatedReply(number, utt_id, user, question, skill, plain.decode(rating.encode()))


class ArchiveStore(Protocol):
    """What is needed of a store outside of turns."""

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Return a whole dialog, hypotheses and ratings included, by `dialog_id` or `_id`."""

    async def turn(self, utt_id: str) -> list[HumanUtterance | BotUtterance]:
        """Return what was said to the reply with this `utt_id`, and the reply.

        Hypotheses and ratings are included. The list is empty where no reply has this id.
        """

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> DialogId | None:
        """Return the `dialog_id` of the person's active dialog of that name."""

    async def dialog_ids(self, query: DialogQuery = ALL_DIALOGS) -> list[DialogId]:
        """Return the ids of the dialogs that match, oldest first."""

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add `{rating, user_external_id, datetime}` to the dialog's `attributes.ratings`.

        Raise `NotFound` for an unknown dialog.
        """

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the `attributes.ratings` of an utterance, of human or bot.

        Raise `NotFound` for an unknown utterance.
        """

    async def ratings_since(self, after: int = 0, limit: int = 10_000) -> list[RatedReply]:
        """Return the latest ratings of replies with numbers above `after`.

        There are `limit` at most, the oldest first. On a store that replicas share a number may
        appear after a higher one: `rating_count` tells.
        """

    async def rating_count(self) -> int:
        """Return how many ratings of replies there are."""

    async def owner_of(self, id_: str) -> str | None:
        """Return the user whose dialog (`dialog_id`, `_id`) or utterance (`utt_id`) this is."""

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs, agenda and records too.

        Return False if there is nothing of theirs.
        """

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; return their number."""

    async def erase(self) -> None:
        """Overwrite what was deleted or replaced before, as far as the store can.

        `delete_person`, `delete_older` and `delete_conversation` do so too.
        """

    def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first, without holding up the turns."""
