"""PostgresqlReader: looks up feeds, rounds, the agenda, records and whole dialogs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final

from prolocutor.contracts.store import (
    ALL_DIALOGS,
    NO_ROUND,
    AgendaEntry,
    Amount,
    ConversationRow,
    DialogQuery,
    FeedRow,
    RatedReply,
    StoredDocument,
    rated_reply,
    unpack_opening,
)
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.ids import DialogId
from prolocutor.dialog.profile_changes import KEY_FRAME_INTERVAL, VersionRow, rebuilt
from prolocutor.errors import PersonMoved
from prolocutor.plugins.postgresql import searches
from prolocutor.plugins.postgresql.database_line import Row, first_column
from prolocutor.plugins.postgresql.lanes import JobLane
from prolocutor.plugins.postgresql.statements import (
    SQL,
    name_digest,
    shown_columns,
    shown_text,
    stored_text,
)
from prolocutor.stores.statements import make_struct

PAGE_ROWS: Final = 200
"""Utterances read at once."""
PAGE_DIALOGS: Final = 100
"""Dialogs listed at once."""
STATEMENT_TIMEOUT: Final = 30.0
"""Seconds for a statement that reads."""

FEED_TIMEOUT: Final = 8.0
"""Seconds to wait for a feed query before the connection is replaced."""

Utterance = HumanUtterance | BotUtterance

_NEVER: Final = (1 << 63) - 1
"""Greater than every number of a feed."""

MANY_NAMES: Final = 1000
"""Conversations of a person from which on they are many."""


class PostgresqlReader:
    """Reads on the line for reads; each method runs a few short statements."""

    def __init__(self, lane: JobLane) -> None:
        self._lane = lane

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return rows of the feed, including the rows of open turns."""
        rows = await self._rows("feed_after", stored_text(user), after, limit, within=FEED_TIMEOUT)
        if not rows and (await self._rows("is_moved", stored_text(user)))[0][0]:
            raise PersonMoved("this person is in another database; connect again")
        return _feed_rows(rows)

    async def feed_ends(self, users: Sequence[str]) -> dict[str, int]:
        """Return the last numbers of the feeds of known users."""
        known = [stored_text(user) for user in users]
        rows = await self._rows("feed_ends", known, within=FEED_TIMEOUT)
        return {shown_text(row["user"]): row["n"] for row in rows}

    async def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last rows of a dialog name, or the first rows after the message `after`."""
        found = await self._rows("name_of_dialog", stored_text(user), stored_text(dialog_name))
        if not found:
            return []
        person, number = found[0][0], found[0][1]
        if after is None:
            rows = await self._rows("feed_tail", person, number, limit)
            return _feed_rows(rows[::-1])
        return _feed_rows(await self._rows("feed_tail_after", person, number, limit, after))

    async def feed_before(
        self, user: str, before: int | None = None, limit: int = 100
    ) -> list[FeedRow]:
        """Return rows of the feed, the latest first."""
        return _feed_rows(
            await self._rows("feed_before", stored_text(user), before or _NEVER, limit)
        )

    async def conversations(
        self, user: str, before: int | None = None, limit: int = 50
    ) -> list[ConversationRow]:
        """Return conversations, the latest first; their first words may be in an open turn.

        Persons with few conversations are read by name, others by going back in the feed.
        """
        names = await self._rows("count_names", stored_text(user), MANY_NAMES)
        statement = "conversations_before" if names[0][0] < MANY_NAMES else "conversations_of_many"
        rows = await self._rows(statement, stored_text(user), before or _NEVER, limit)
        return [
            ConversationRow(
                shown_text(row["name"]),
                row["n"],
                row["at"],
                row["first"] or (row["opening"] and unpack_opening(row["opening"]).message),
            )
            for row in rows
        ]

    async def dialogs_named(self, user: str, dialog_name: str) -> list[int]:
        """Return the numbers of a person's dialogs of a name."""
        rows = await self._rows("dialogs_named", stored_text(user), stored_text(dialog_name))
        return [row[0] for row in rows]

    async def round(self, user: str, dialog_name: str) -> bytes:
        """Return the round of a person's active dialog of a name."""
        rows = await self._rows("round_of", stored_text(user), stored_text(dialog_name))
        return bytes(rows[0][0]) if rows else NO_ROUND

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries of the agenda with `due <= now`."""
        return read_entries(await self._rows("due_entries", now, limit))

    async def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""
        rows = await self._rows("next_due", after)
        return float(rows[0][0]) if rows else None

    async def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries, all or those of a skill."""
        wanted = None if skill is None else stored_text(skill)
        return read_entries(await self._rows("entries_of", stored_text(user), wanted))

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key."""
        rows = await self._rows("records_of", stored_text(user), stored_text(kind))
        return {shown_text(row["key"]): row["body"] for row in rows}

    async def record(self, user: str, kind: str, key: str) -> bytes | None:
        """Return a document."""
        rows = await self._rows("record_of", stored_text(user), name_digest(kind, key))
        return bytes(rows[0][0]) if rows else None

    async def amounts(self, kind: str, first: str, last: str) -> list[Amount]:
        """Return the sums of a kind in some periods."""
        rows = await self._rows("amounts_between", kind, first, last)
        return [Amount(*shown_columns(row)) for row in rows]

    async def records_since(
        self, kind: str, after: int = 0, limit: int = 10_000
    ) -> list[StoredDocument]:
        """Return the latest documents of a kind with numbers above `after`."""
        rows = await self._rows("records_since", stored_text(kind), after, limit)
        return [StoredDocument(*shown_columns(row)) for row in rows]

    async def record_count(self, kind: str) -> int:
        """Return the number of documents of a kind."""
        return int(first_column(await self._rows("record_count", stored_text(kind)))[0])

    async def ratings_since(self, after: int = 0, limit: int = 10_000) -> list[RatedReply]:
        """Return the latest ratings of replies with numbers above `after`."""
        rows = await self._rows("ratings_since", after, limit)
        return [rated_reply(*shown_columns(row)) for row in rows]

    async def rating_count(self) -> int:
        """Return the number of ratings of replies."""
        return int(first_column(await self._rows("rating_count"))[0])

    async def dialog_by_id(self, id_: str) -> Dialog | None:
        """Return a whole dialog by `dialog_id` or `_id`."""
        rows = await self._rows("find_dialog", stored_text(id_))
        return await self.whole(rows[0][0], rows[0][1]) if rows else None

    async def turn(self, utt_id: str) -> list[Utterance]:
        """Return the human utterance before a reply, and the reply."""
        rows = await self._rows("find_utterance", stored_text(utt_id))
        if not rows:
            return []
        person, dialog, position = rows[0][0], rows[0][1], rows[0][2]
        head = await self._rows("dialog_with_person", person, dialog)
        if not head:
            return []
        ratings = await self._ratings(person, dialog)
        return (await self._page(head[0], ratings, max(position - 1, 0), 2))[0]

    async def whole(self, person: int, number: int) -> Dialog | None:
        """Read a dialog page by page; return None if it is missing or was deleted meanwhile."""
        head = await self._rows("dialog_with_person", person, number)
        if not head:
            return None
        ratings = await self._ratings(person, number)
        dialog = await self._read_head(head[0], ratings)
        position, end = 0, -1
        while position != end:
            end = position
            some, position = await self._page(head[0], ratings, position, PAGE_ROWS)
            dialog.utterances += some
        by_bot = [
            utterance for utterance in dialog.utterances if isinstance(utterance, BotUtterance)
        ]
        dialog.date_finish = by_bot[-1].date_time if by_bot else None
        return dialog if await self._rows("find_dialog", dialog.dialog_id) else None

    async def dialogs(self, user: str | None) -> AsyncIterator[tuple[int, int]]:
        """Yield persons and numbers of dialogs (of a person), oldest first."""
        last = 0
        while True:
            if user is None:
                rows = await self._rows("dialogs_after", last, PAGE_DIALOGS)
            else:
                rows = await self._rows("dialogs_after_of", last, PAGE_DIALOGS, stored_text(user))
            if not rows:
                return
            last = rows[-1][1]
            for row in rows:
                yield row[0], row[1]

    async def last_dates(self, number: int) -> list[tuple[int, str]]:
        """Return the numbers of the next dialogs, and the times of their last utterances."""
        return [(row[0], row[1]) for row in await self._rows("last_dates", number, PAGE_DIALOGS)]

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> DialogId | None:
        """Return the id of a person's active dialog of a name."""
        rows = await self._rows("active_dialog_id", stored_text(user), stored_text(dialog_name))
        return DialogId(rows[0][0]) if rows else None

    async def find_owner(self, id_: str) -> str | None:
        """Return the user of a dialog or utterance."""
        rows = await self._rows("owner_of", stored_text(id_))
        return shown_text(rows[0][0]) if rows else None

    async def dialog_ids(self, query: DialogQuery = ALL_DIALOGS) -> list[DialogId]:
        """Return the ids of the matching dialogs, oldest first."""
        statement, values = searches.statement(query)
        return first_column(await self._fetch(statement, *values))

    async def _read_head(self, row: Row, ratings: dict[int, list[bytes]]) -> Dialog:
        human = await self._newest(row["person"], 0, row["human_id"])
        bot = await self._newest(row["person"], row["dialog"], row["dialog_id"])
        attributes: bytes = row["attributes"]
        of_dialog = ratings.get(-1, [])
        if of_dialog:
            attributes = agent_state.attributes_with_ratings(attributes, of_dialog)
        return Dialog(
            dialog_id=DialogId(row["dialog_id"]),
            id=row["id"],
            human=agent_state.human_from_state(plain.decode(human)),
            bot=agent_state.bot_from_state(plain.decode(bot)),
            channel_type=shown_text(row["channel_type"]),
            date_start=row["date_start"],
            active=row["active"],
            utterances=[],
            attributes=plain.decode(attributes),
            rating=plain.decode(agent_state.last_rating(of_dialog)),
        )

    async def _page(
        self, head: Row, ratings: dict[int, list[bytes]], position: int, limit: int
    ) -> tuple[list[Utterance], int]:
        """Return utterances from a position on, and the position after them."""
        person, number = head["person"], head["dialog"]
        rows = await self._rows("utterances_from", person, number, position, limit)
        humans = await self._states(
            person, 0, head["human_id"], (row["user_version"] for row in rows if not row["by_bot"])
        )
        bots = await self._states(
            person, number, head["dialog_id"], (r["user_version"] for r in rows if r["by_bot"])
        )
        utterances: list[Utterance] = []
        for row in rows:
            body, version = row["body"], row["user_version"]
            if row["by_bot"]:
                state = agent_state.bot_utterance(body, bots[version])
            else:
                state = agent_state.human_utterance(
                    body, humans[version], row["hypotheses"] or b"[]"
                )
            if rated := ratings.get(row["position"]):
                state = agent_state.add_ratings(state, rated)
            utterances.append(agent_state.utterance_from_state(plain.decode(state)))
            position = row["position"] + 1
        return utterances, position

    async def _newest(self, person: int, owner: int, id_: str) -> bytes:
        rows = _chain(await self._rows("latest_versions", person, owner))
        return rebuilt(id_, rows, {rows[-1][0]} if rows else {0})[rows[-1][0]]

    async def _states(
        self, person: int, owner: int, id_: str, numbers: Iterable[int]
    ) -> dict[int, bytes]:
        """Return the states of some versions; each needs at most `KEY_FRAME_INTERVAL` rows."""
        wanted = set(numbers)
        found: dict[int, bytes] = {}
        for frame in {number // KEY_FRAME_INTERVAL for number in wanted}:
            some = {number for number in wanted if number // KEY_FRAME_INTERVAL == frame}
            rows = await self._rows(
                "versions_between", person, owner, frame * KEY_FRAME_INTERVAL, max(some)
            )
            found |= rebuilt(id_, _chain(rows), some)
        return found

    async def _ratings(self, person: int, number: int) -> dict[int, list[bytes]]:
        """Return the ratings of a dialog (under -1) and of its utterances, by position."""
        found: dict[int, list[bytes]] = {}
        for row in await self._rows("ratings_of", person, number):
            found.setdefault(row[0], []).append(row[1])
        return found

    async def _rows(self, name: str, *values: Any, within: float = STATEMENT_TIMEOUT) -> list[Row]:
        return await self._fetch(SQL[name], *values, within=within)

    async def _fetch(
        self, statement: str, *values: Any, within: float = STATEMENT_TIMEOUT
    ) -> list[Row]:
        return await self._lane.fetch(statement, *values, within=within)


def _chain(rows: list[Row]) -> list[VersionRow]:
    return [(row[0], row[1], row[2]) for row in rows]


def _feed_rows(rows: list[Row]) -> list[FeedRow]:
    """Make rows of the feed; the message of an open turn is in its opening."""
    found = []
    for row in rows:
        opening: bytes | None = row["opening"]
        message = row["message"] if opening is None else unpack_opening(opening).message
        id_ = None if message is None else row["id"]
        dialog_id, name = DialogId(row["dialog_id"]), shown_text(row["name"])
        found.append(FeedRow(row["n"], dialog_id, message, name, id_, row["closing"]))
    return found


def read_entries(rows: list[Row]) -> list[AgendaEntry]:
    """Make entries of the agenda."""
    return [make_struct(AgendaEntry, shown_columns(row)) for row in rows]
