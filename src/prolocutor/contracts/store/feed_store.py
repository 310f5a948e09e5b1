"""FeedStore: everything said to or by a person, one row each, in order."""

from __future__ import annotations

from typing import Final, Protocol

import msgspec

from prolocutor.dialog.ids import DialogId

NO_ASK_CLOSING: Final = b'{"ask":null}'
"""The closing of a turn after which nothing is asked."""

NO_ROUND: Final = b"{}"
"""The `dialog.rounds.Round` of a dialog in which nothing is asked."""


class FeedRow(msgspec.Struct, frozen=True, gc=False):
    """One row of a person's feed: `n` ascends by one, `message` is a JSON object.

    `id` counts the messages of one dialog name of this person, from 0 without gaps, on through all
    dialogs of that name, closed ones too. No id is given twice, even where old dialogs are deleted
    (only a person who was deleted and comes back starts anew). A row belongs to the dialog
    `dialog_id`, which is called `dialog_name`.

    What a person says has an id and no closing. The last row of a turn, or of a notification, has a
    `closing`: the JSON object `{"ask", "code"?, "entities"?}` of what is asked from then on. A turn
    without a message leaves one row whose `message` and `id` are None.
    """

    n: int
    dialog_id: DialogId
    message: bytes | None
    dialog_name: str = "main"
    id: int | None = None
    closing: bytes | None = None


class FeedStore(Protocol):
    """Reads feeds, and the round that a dialog is in. Turns and deliveries write both."""

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return up to `limit` rows with `n > after`, ascending; an unknown person has none."""

    async def feed_end(self, user: str) -> int:
        """Return the number of the last row ever written for this person, 0 if none."""

    async def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last `limit` rows of one dialog name, ascending.

        With `after`, return the first `limit` of the rows that follow the message with this `id`.
        Rows without a message count as well.
        """

    async def round(self, user: str, dialog_name: str) -> bytes:
        """Return the `Round` (JSON) of the active dialog of that name, `{}` if nothing is asked."""
