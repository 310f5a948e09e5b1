"""Conversations: lists of dialogs by the events in them, counts, hours, and a single dialog."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta

from prolocutor.assistant.operator_desk import HandedOver, OperatorDesk
from prolocutor.clocks import HOUR, WEEK
from prolocutor.contracts.channel import Route
from prolocutor.contracts.store import RecordStore
from prolocutor.contracts.turn_record_store import (
    ConversationQuery,
    ConversationTurn,
    DialogOrder,
    DialogPlace,
    DialogSummary,
    TurnFlag,
    TurnRecordStore,
)
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.console.dialog_titles import DialogTitles
from prolocutor.plugins.console.handover_endpoints import HandoverState, handover_state
from prolocutor.plugins.console.paging import Cursor, CursorCodec, Limit
from prolocutor.plugins.console.resources import BASE
from prolocutor.plugins.console.turn_notes import Tag, TurnNotes
from prolocutor.web.operations import Operation, TypedRequest

ConversationKind: TypeAlias = Literal["all", "waits", "taken", "down", "none", "failed", "slow"]
"""Dialogs that wait for a person, that one has taken over, or with a turn of that flag."""

CURSOR: Final = CursorCodec(DialogPlace)
MOST_HOURS: Final = 24 * 366
FRESH_SECONDS: Final = 5.0
"""Seconds for which counts are cached."""
MOST_CACHED: Final = 100

_FLAGS: Final[dict[str, TurnFlag]] = {flag: flag for flag in get_args(TurnFlag)}

Time: TypeAlias = Annotated[float | None, Meta(description="Seconds (UNIX).")]
Words: TypeAlias = Annotated[
    Annotated[str, Meta(max_length=1000)] | None,
    Meta(description="All of them, or words that begin so, in what was said or replied."),
]


class ConversationFilter(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions on the requested dialogs.

    `agent` spoke in the dialog, `user` is its person, it began at the door `channel`; it has a turn
    at or after `since` and before `until`, and a turn with the `tag`.
    """

    kind: ConversationKind = "all"
    agent: str | None = None
    user: str | None = None
    channel: str | None = None
    since: Time = None
    until: Time = None
    words: Words = None
    tag: Tag | None = None

    def query(self, ids: list[str] | None, order: DialogOrder = "at") -> ConversationQuery:
        """Return the query of the store; `ids` are the admitted dialogs, None for all."""
        return ConversationQuery(
            flag=_FLAGS.get(self.kind),
            agent=self.agent,
            user=self.user,
            channel=self.channel,
            order=order,
            since=self.since,
            until=self.until,
            words=self.words,
            ids=ids,
        )


class ConversationPageParams(ConversationFilter, frozen=True, kw_only=True):
    """The requested page of a list of dialogs, the greatest figure first (`order`)."""

    order: DialogOrder = "at"
    cursor: Cursor = None
    limit: Limit = 50


class ListedDialogRow(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog in the list: its title, its last turn, and figures over its recorded turns.

    With `words`, `said` and `reply` are from the latest turn with the words, and `hit` is the
    `utt_id` of its reply. `failed` is the number of failed services. `stopped`: the person stopped
    the turn of this reply.
    """

    dialog_id: str
    user: str
    channel: str
    at: float
    active: bool
    title: str
    said: str
    reply: str
    spoke: list[str]
    turns: int
    slowest: float
    cost: float
    flags: list[Literal["down", "none", "failed", "slow", "waits", "taken"]]
    failed: int
    hit: str | None
    stopped: bool


class ConsoleDialogList(msgspec.Struct, frozen=True):
    """A page of dialogs, the dialog with the latest turn first."""

    items: list[ListedDialogRow]
    next: str | None


class KindCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The number of dialogs of each kind, at most five seconds old."""

    all: int
    waits: int
    taken: int
    down: int
    none: int
    failed: int
    slow: int


class HoursParams(msgspec.Struct, frozen=True):
    """The requested hours; by default the last seven days."""

    since: Time = None
    until: Time = None


class HourColumns(msgspec.Struct, frozen=True):
    """Turns by hour, as columns; `bad` turns had no answer, or a service failed."""

    step: int
    at: list[int]
    turns: list[int]
    bad: list[int]
    down: list[int]
    none: list[int]


class ConversationParams(msgspec.Struct, frozen=True, kw_only=True):
    """The requested turns of a dialog.

    They are the first or the newest turns, the turns after or before a position, or the turns
    around a reply. A position is the `position` of a turn in the dialog.
    """

    dialog_id: str
    after: int | None = None
    before: int | None = None
    around: Annotated[str | None, Meta(description="The `utt_id` of a reply.")] = None
    newest: bool = False
    limit: Limit = 100


class ConversationView(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog and some of its turns, the oldest first; null stands for values no longer kept.

    `previous` is the `before` of the previous page of turns, `next` the `after` of the next page;
    null if there is no such page.
    """

    dialog_id: str
    user: str
    dialog: str
    title: str
    channel: str
    started: float
    active: bool
    handover: HandoverState | None
    items: list[ConversationTurn]
    previous: int | None
    next: int | None


class DialogListEndpoints:
    """Shows dialogs from the records of their turns."""

    def __init__(
        self,
        records: TurnRecordStore | None,
        store: RecordStore,
        desk: OperatorDesk,
        notes: TurnNotes,
    ) -> None:
        self._records = records
        self._titles = None if records is None else DialogTitles(records, store)
        self._notes = notes
        self._desk = desk
        self._counted: dict[ConversationFilter, tuple[float, KindCounts]] = {}
        listed, count = Operation(self.list_conversations), Operation(self.count_conversations)
        hours, show = (
            Operation(self.show_hours),
            Operation(self.show_conversation, errors=[NotFound]),
        )
        self.routes = [
            Route("GET", f"{BASE}/conversations", listed, "operators"),
            Route("GET", f"{BASE}/counts", count, "operators"),
            Route("GET", f"{BASE}/hours", hours, "operators"),
            Route("GET", f"{BASE}/conversations/{{dialog_id}}", show, "operators"),
        ]

    async def list_conversations(
        self, request: TypedRequest[ConversationPageParams, None]
    ) -> ConsoleDialogList:
        """List dialogs, the dialog with the latest turn first."""
        params = request.params
        place, handed = CURSOR.read(params.cursor), await self._handed_over()
        ids = await self._find_tagged(params.tag, _dialog_ids(params.kind, handed))
        query = params.query(ids, params.order)
        page = await self._kept.conversations(query, place, params.limit)
        titles = await self._find_titles((one.dialog_id, one.user) for one in page.items)
        rows = [_row(one, titles[one.dialog_id], handed.get(one.dialog_id)) for one in page.items]
        return ConsoleDialogList(rows, CURSOR.write(page.next))

    async def count_conversations(
        self, request: TypedRequest[ConversationFilter, None]
    ) -> KindCounts:
        """Count the dialogs of each kind under the other conditions."""
        wanted = msgspec.structs.replace(request.params, kind="all")
        now = time.monotonic()
        known = self._counted.get(wanted)
        if known is not None and now - known[0] < FRESH_SECONDS:
            return known[1]
        counts = await self._count(wanted)
        if len(self._counted) >= MOST_CACHED:
            self._counted.clear()
        self._counted[wanted] = now, counts
        return counts

    async def show_hours(self, request: TypedRequest[HoursParams, None]) -> HourColumns:
        """Show the number of turns in each hour."""
        given = request.params
        until = time.time() if given.until is None else given.until
        since = until - WEEK if given.since is None else given.since
        if not 0 <= since < until <= 1e11:
            raise BadInput("since should be before until", field="since")
        first = int(since) // HOUR * HOUR
        if (until - first) / HOUR > MOST_HOURS:
            raise BadInput("at most a year can be shown", field="since")
        known = {one.at: one for one in await self._kept.hours(first, until)}
        at = list(range(first, max(first + 1, int(until)), HOUR))
        found = [known.get(one) for one in at]
        return HourColumns(
            step=HOUR,
            at=at,
            turns=[0 if one is None else one.turns for one in found],
            bad=[0 if one is None else one.bad for one in found],
            down=[0 if one is None else one.down for one in found],
            none=[0 if one is None else one.none for one in found],
        )

    async def show_conversation(
        self, request: TypedRequest[ConversationParams, None]
    ) -> ConversationView:
        """Show a dialog turn by turn."""
        params, kept = request.params, self._kept
        head = await kept.head(params.dialog_id)
        if head is None:
            raise NotFound(f"no dialog has the id {params.dialog_id!s:.80}", field="dialog_id")
        items = await self._turns(head.dialog_id, params)
        previous = await kept.turns(head.dialog_id, _first(items), 1, newest=True) if items else []
        following = await kept.turns(head.dialog_id, items[-1].position, 1) if items else []
        handed = (await self._handed_over()).get(head.dialog_id)
        return ConversationView(
            dialog_id=head.dialog_id,
            user=head.user,
            dialog=head.name,
            title=(await self._find_titles([(head.dialog_id, head.user)]))[head.dialog_id],
            channel=head.channel,
            started=head.started,
            active=head.active,
            handover=None if handed is None else handover_state(handed.handover),
            items=items,
            previous=_first(items) if previous else None,
            next=items[-1].position if following else None,
        )

    async def _find_titles(self, dialogs: Iterable[tuple[str, str]]) -> dict[str, str]:
        return {} if self._titles is None else await self._titles.find(dialogs)

    async def _turns(self, dialog_id: str, params: ConversationParams) -> list[ConversationTurn]:
        kept, limit = self._kept, params.limit
        if params.around is not None:
            turn = await kept.turn(params.around)
            if turn is None or turn.dialog_id != dialog_id:
                raise NotFound("this dialog has no such reply", field="around")
            after = await kept.turns(dialog_id, turn.position, limit // 2)
            upto = await kept.turns(dialog_id, turn.position + 1, limit - len(after), newest=True)
            return [*upto, *after]
        if params.newest or params.before is not None:
            return await kept.turns(dialog_id, params.before, limit, newest=True)
        return await kept.turns(dialog_id, params.after, limit)

    async def _count(self, wanted: ConversationFilter) -> KindCounts:
        handed = await self._handed_over()
        counts = await self._kept.counts(wanted.query(await self._find_tagged(wanted.tag, None)))
        of_kind = {}
        for kind in ("waits", "taken"):
            ids = await self._find_tagged(wanted.tag, _dialog_ids(kind, handed)) or []
            found = await self._kept.counts(wanted.query(ids)) if ids else None
            of_kind[kind] = 0 if found is None else found.all
        return KindCounts(
            all=counts.all,
            waits=of_kind["waits"],
            taken=of_kind["taken"],
            down=counts.down,
            none=counts.none,
            failed=counts.failed,
            slow=counts.slow,
        )

    async def _find_tagged(self, tag: str | None, ids: list[str] | None) -> list[str] | None:
        """Return the dialogs with a tagged turn, out of some dialogs or of all (None)."""
        if tag is None:
            return ids
        tagged = dict.fromkeys(note.dialog_id for note in await self._notes.all(tag))
        return [id_ for id_ in tagged if ids is None or id_ in ids]

    async def _handed_over(self) -> dict[str, HandedOver]:
        return {one.dialog_id: one for one in await self._desk.list_handovers()}

    @property
    def _kept(self) -> TurnRecordStore:
        if self._records is None:
            raise NotFound("this assistant's store keeps no records of turns")
        return self._records


def _dialog_ids(kind: str, handed: Mapping[str, HandedOver]) -> list[str] | None:
    """Return the ids of the waiting and taken over dialogs; None for the other kinds."""
    if kind not in ("waits", "taken"):
        return None
    return [id_ for id_, one in handed.items() if bool(one.handover.by) == (kind == "taken")]


def _row(one: DialogSummary, title: str, handed: HandedOver | None) -> ListedDialogRow:
    state: list[Literal["waits", "taken"]] = []
    if handed is not None:
        state = ["taken" if handed.handover.by else "waits"]
    return ListedDialogRow(
        dialog_id=one.dialog_id,
        user=one.user,
        channel=one.channel,
        at=one.at,
        active=one.active,
        title=title,
        said=one.said,
        reply=one.reply,
        spoke=one.spoke,
        turns=one.turns,
        slowest=one.slowest,
        cost=one.cost,
        flags=[*one.flags, *state],
        failed=one.failed,
        hit=one.hit,
        stopped=one.stopped,
    )


def _first(items: list[ConversationTurn]) -> int:
    """Return the position of the first utterance of the first turn."""
    first = items[0]
    return first.position - (first.said is not None and first.utt_id is not None)
