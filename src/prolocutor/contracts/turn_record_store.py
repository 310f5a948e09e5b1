"""TurnRecordStore: the records of turns for operators: records, figures, and the search for them.

It is an optional part of a store (`KeepsTurnRecords`). Records come in batches after the replies
are out, and may be lost with the process. The records of a dialog are deleted with the dialog. An
unreadable or deleted record is None: summaries stay as long as the dialog. Times are seconds
(UNIX).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol, runtime_checkable

import msgspec

from prolocutor.contracts.observer import BOUNDS, TurnRecord
from prolocutor.dialog.ids import DialogId

TurnFlag = Literal["down", "none", "failed", "slow"]
"""A thumb down; no answer (fallback or last chance); a service that failed; longer than `slow`."""

TURN_FLAGS: Final[tuple[TurnFlag, ...]] = ("down", "none", "failed", "slow")

SUMMARY_CHARACTERS: Final = 200
"""Characters that summaries show of what was said."""

SPAN_SECONDS: Final = 900
"""Seconds that one row of an agent's figures covers."""


DialogOrder = Literal["at", "turns", "slowest", "cost", "failed"]
"""The figure of a dialog by which a list is sorted, the greatest first."""


class DialogPlace(msgspec.Struct, frozen=True):
    """The place of a dialog in a list: the figure that orders the list, and its number."""

    at: float
    number: int


class ConversationQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which dialogs are wanted; a condition of None does not count.

    - `flag` is the flag of a turn in it.
    - `agent` spoke in it, `user` is its person, `channel` where it began.
    - `since`, `until`: it has a turn at or after `since` and before `until`.
    - `words`: all of them, or words with such beginnings, stand in the texts of a turn and its
      reply.
    - `ids` are the dialogs to search.
    - `order` sorts them; where words are searched, the latest hit stands first whatever it says.
    """

    flag: TurnFlag | None = None
    agent: str | None = None
    user: str | None = None
    channel: str | None = None
    since: float | None = None
    until: float | None = None
    words: str | None = None
    ids: Sequence[str] | None = None
    order: DialogOrder = "at"


class DialogSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog in a list: who, when last, its last turn, and figures over its recorded turns.

    Where words are searched, `said` and `reply` are the texts of the latest turn with these words,
    and `hit` is the id of its reply. `failed` counts services, `turns` also counts the turns of
    before. `stopped`: the person stopped the turn that is shown.
    """

    dialog_id: DialogId
    user: str
    channel: str
    active: bool
    at: float
    said: str
    reply: str
    spoke: list[str]
    turns: int
    slowest: float
    cost: float
    failed: int
    flags: list[TurnFlag]
    hit: str | None = None
    stopped: bool = False


class ConversationPage(msgspec.Struct, frozen=True):
    """Dialogs in the order of the query, or the latest hit first where words are searched.

    `next` is the place after which the next page begins, None at the end. A page may be shorter
    than asked for where few of many hits fit.
    """

    items: list[DialogSummary]
    next: DialogPlace | None


class ConversationCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of dialogs, all of them and by flag."""

    all: int = 0
    down: int = 0
    none: int = 0
    failed: int = 0
    slow: int = 0


class ConversationHead(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog without its turns; `name` is the person's own name of it."""

    dialog_id: DialogId
    user: str
    name: str
    channel: str
    started: float
    active: bool


class ConversationTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a dialog.

    - `said` is None where only the assistant or an operator spoke, `reply` and `utt_id` where
      nobody replied. None stands for deleted values.
    - `position` is its last utterance's, `spoke` names the skills whose words are in the reply.
    - `stopped`: its person stopped it.
    """

    position: int
    at: float
    said: str | None = None
    utt_id: str | None = None
    reply: str | None = None
    spoke: list[str] = []
    turn_id: str | None = None
    by: str | None = None
    seconds: float | None = None
    cost: float | None = None
    flags: list[TurnFlag] | None = None
    rating: Any = None
    stopped: bool = False


class TurnQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which turns are wanted: with one of `flags` if any are given, and in which `failed` failed.

    `failed` is the name of a service, `code` the code of its failure.
    """

    flags: Sequence[TurnFlag] = ()
    failed: str | None = None
    code: str | None = None


class TurnPlace(msgspec.Struct, frozen=True):
    """The place of a turn in a list: when it began, and the id of its reply."""

    at: float
    utt_id: str


class ListedTurn(msgspec.Struct, frozen=True):
    """A turn in a list: its record, with texts as lists show them and without hypotheses."""

    record: TurnRecord
    flags: list[TurnFlag]


class TurnPage(msgspec.Struct, frozen=True):
    """The latest turns first; `next` is the place after which the next page begins, or None.

    A page may be shorter than asked for where few of many turns match.
    """

    items: list[ListedTurn]
    next: TurnPlace | None


class TurnHour(msgspec.Struct, kw_only=True):
    """The turns of the hour from `at` on; `bad` turns had no answer, or a failed service."""

    at: int
    turns: int = 0
    bad: int = 0
    down: int = 0
    none: int = 0
    failed: int = 0
    slow: int = 0


class LatestFailure(msgspec.Struct, frozen=True):
    """The last turn in which an agent failed in a certain way."""

    at: float
    utt_id: str


class AgentSpan(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The figures of an agent in the 900 seconds (`SPAN_SECONDS`) from `at` on.

    - `asked` counts turns, `won` the turns whose reply has a hypothesis of it, `declined` the turns
      in which it gave no answer (`ServiceRecord.declined`).
    - `kinds` are failures by code, `latest` the last turn of each.
    - `buckets` are its durations where it was done or late, counted in the bounds of
      `contracts.observer.BOUNDS`, `seconds` their sum.
    - `up` and `down` count thumbs on the agent's chosen replies.
    """

    at: int
    agent: str
    asked: int = 0
    won: int = 0
    declined: int = 0
    failed: int = 0
    kinds: dict[str, int] = {}
    latest: dict[str, LatestFailure] = {}
    buckets: list[int] = []
    seconds: float = 0.0
    cost: float = 0.0
    up: int = 0
    down: int = 0

    def answer_quantile(self, share: float) -> float | None:
        """Return the seconds within which this share of the answers came; None without any.

        Between the bounds of its bucket it is interpolated.
        """
        wanted, seen = share * sum(self.buckets), 0
        if not wanted:
            return None
        lower = 0.0
        for bound, count in zip((*BOUNDS, BOUNDS[-1]), self.buckets, strict=True):
            if count and seen + count >= wanted:
                return lower + (bound - lower) * (wanted - seen) / count
            seen += count
            lower = bound
        return lower


class KeptTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it is kept: its place, and its record without the values in the dialog itself.

    In `record` the texts and hypotheses are empty: they stand in the utterances. It is None where
    it is not kept any more, or cannot be read. `rating` is the last rating of the reply, `position`
    its place in the dialog.

    """

    utt_id: str
    dialog_id: DialogId
    position: int
    flags: list[TurnFlag] | None = None
    rating: Any = None
    record: TurnRecord | None = None


class TurnRecordStore(Protocol):
    """Keeps the records of turns, and finds dialogs by them."""

    async def add(self, records: Sequence[TurnRecord], *, slow: float) -> None:
        """Keep records, all in one transaction; records of deleted dialogs are left out.

        Turns of more than `slow` seconds get this flag.
        """

    async def tend(self, *, now: float, keep: float, most: int) -> bool:
        """Do a bounded piece of the due work; return whether there is more.

        Records of turns begun more than `keep` seconds ago are deleted, the oldest records beyond
        `most` as well, and the words of turns become searchable. Figures by hour are kept for 35
        days or `keep`, whichever is longer.
        """

    async def conversations(
        self, query: ConversationQuery, after: DialogPlace | None, limit: int
    ) -> ConversationPage:
        """Return the matching dialogs, from the place `after` on."""

    async def counts(self, query: ConversationQuery) -> ConversationCounts:
        """Count the matching dialogs, whatever the query's own flag."""

    async def hours(self, since: float, until: float) -> list[TurnHour]:
        """Return the hours with turns, ascending."""

    async def figures(
        self, since: float, until: float, agent: str | None = None
    ) -> list[AgentSpan]:
        """Return the figures of all agents or of the named agent, by time, then by name."""

    async def totals(self, since: float, until: float, step: int | None = None) -> list[AgentSpan]:
        """Return the sums of each agent's figures between two times, by name; `at` is `since`.

        With `step`, a number of seconds and a divisor of `since`, return the sums of each step, by
        time; `at` is its start.
        """

    async def head(self, dialog_id: str) -> ConversationHead | None:
        """Return a dialog by its id."""

    async def turns(
        self, dialog_id: str, after: int | None, limit: int, *, newest: bool = False
    ) -> list[ConversationTurn]:
        """Return turns of a dialog after a position, ascending; with `newest`, the last turns.

        With `newest`, `after` is the position before which they end.
        """

    async def latest_turns(self, query: TurnQuery, after: TurnPlace | None, limit: int) -> TurnPage:
        """Return the matching turns of all dialogs, from the place `after` on."""

    async def turn(self, utt_id: str) -> KeptTurn | None:
        """Return the turn whose reply has this id; None for an unknown reply."""


@runtime_checkable
class KeepsTurnRecords(Protocol):
    """A store with records of turns."""

    @property
    def turn_records(self) -> TurnRecordStore:
        """The keeper of the records."""
