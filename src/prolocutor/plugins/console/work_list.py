"""WorkList: questions with disliked replies, near duplicates together."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final, Literal

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.clocks import WEEK
from prolocutor.contracts.model_use import AbstainingSelector
from prolocutor.contracts.turn_record_store import (
    ConversationQuery,
    ConversationTurn,
    DialogSummary,
    KeepsTurnRecords,
    KeptTurn,
    TurnRecordStore,
)
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.dialog.ids import parse_time
from prolocutor.reading.words import near_duplicates

WorkSign = Literal["down", "none", "unsure"]
"""A thumb down; no answer; the assistant asked back or called for a person, as it was unsure."""

SIGNS: Final[tuple[WorkSign, ...]] = ("down", "none", "unsure")
MOST_TURNS: Final = 5000
FRESH_SECONDS: Final = 5.0
"""Seconds that a list is shown without looking again, or as many times as long as it took."""

MAX_TURNS_READ: Final = 1000
"""The latest dialogs in which turns are looked for to which nothing leads."""

_PAGE_ROWS: Final = 200

_Conditions = tuple[int, WorkSign | None]


class FlaggedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn with a disliked reply; `said` and `reply` are shortened."""

    utt_id: str
    dialog_id: str
    user: str
    at: float
    said: str
    reply: str
    spoke: list[str]
    sign: WorkSign | None = None


class WorkGroup(msgspec.Struct, frozen=True):
    """A question with its turns, the oldest first."""

    turns: list[FlaggedTurn]

    @property
    def id(self) -> str:
        """The `utt_id` of the oldest turn, which does not change when turns are added."""
        return self.turns[0].utt_id

    @property
    def last(self) -> FlaggedTurn:
        """The latest turn."""
        return self.turns[-1]

    @property
    def order(self) -> tuple[int, float, str]:
        """The sort key in the list: the most frequent first, then the latest."""
        return -len(self.turns), -self.last.at, self.id

    @property
    def texts(self) -> list[str]:
        """The wordings of the question, the most frequent first."""
        return [text for text, _ in Counter(one.said for one in self.turns).most_common()]

    @property
    def sign(self) -> WorkSign | None:
        """A thumb down if one of the turns has it; else the next of the signs."""
        return next((sign for sign in SIGNS if any(one.sign == sign for one in self.turns)), None)


class WorkList:
    """The groups of an assistant's flagged turns without a label."""

    def __init__(self, assistant: Assistant, *, clock: Callable[[], float] = time.time) -> None:
        self._assistant = assistant
        self._selector = _abstaining(assistant)
        self._clock = clock
        self._lock = asyncio.Lock()
        self._deletions = 0
        self._known: dict[_Conditions, tuple[float, list[WorkGroup]]] = {}
        """The time until which a list is shown, and the list, by its conditions."""

    async def groups(
        self, since: float | None = None, sign: WorkSign | None = None
    ) -> list[WorkGroup]:
        """Return the groups, the most frequent first; by default the groups of seven days."""
        start = self._clock() - WEEK if since is None else since
        key = -1 if since is None else int(since), sign
        async with self._lock:
            begun = self._clock()
            if self._deletions != self._assistant.labels.deletions:
                self._deletions = self._assistant.labels.deletions
                self._known = {}
            until, found = self._known.get(key, (0.0, []))
            if begun < until:
                return found
            turns = await self._find_unlabelled(start, sign)
            found = await asyncio.to_thread(_group_turns, turns)
            now = self._clock()
            self._known = dict([*self._known.items()][-8:])
            self._known[key] = (now + FRESH_SECONDS * max(1.0, now - begun), found)
            return found

    async def alone(self, utt_id: str) -> WorkGroup | None:
        """Return the question of any reply; None for an unknown one."""
        store = self._assistant.store
        found, user = await store.turn(utt_id), await store.find_owner(utt_id)
        if user is None or len(found) < 2:
            return None
        said, reply = found
        kept = None
        if isinstance(store, KeepsTurnRecords):
            kept = await store.turn_records.turn(utt_id)
        flags = (kept and kept.flags) or []
        turn = FlaggedTurn(
            utt_id=utt_id,
            dialog_id="" if kept is None else kept.dialog_id,
            user=user,
            at=parse_time(reply.date_time),
            said=said.text,
            reply=reply.text,
            spoke=_find_speakers(kept, reply),
            sign=next((sign for sign in SIGNS if sign in flags), None),
        )
        return WorkGroup([turn])

    def forget(self) -> None:
        """Recompute the list at its next use, because a label was taken back."""
        self._known = {}

    def leave_out(self, utt_ids: Collection[str]) -> None:
        """Leave out the groups with these turns, which now have a label."""
        for key, (until, groups) in self._known.items():
            left = [one for one in groups if not any(t.utt_id in utt_ids for t in one.turns)]
            self._known[key] = (until, left)

    async def _find_unlabelled(self, since: float, sign: WorkSign | None) -> list[FlaggedTurn]:
        store = self._assistant.store
        if not isinstance(store, KeepsTurnRecords):
            return []
        labels = await self._assistant.labels.all_labels()
        done = {turn.utt_id for label in labels for turn in label.turns}
        found: dict[str, FlaggedTurn] = {}
        for one in SIGNS if sign is None else (sign,):
            for turn in await _find_flagged(store.turn_records, one, since, self._selector):
                if turn.utt_id not in done:
                    found.setdefault(turn.utt_id, turn)
        return sorted(found.values(), key=lambda one: one.at)[-MOST_TURNS:]


def _abstaining(assistant: Assistant) -> AbstainingSelector | None:
    """Return the selector with a rule for abstention, or None."""
    for step in assistant.engine.prepared.every():
        selector = step.service.call.target
        target = getattr(selector, "target", selector)
        if isinstance(target, AbstainingSelector) and target.may_abstain:
            return target
    return None


async def _find_flagged(
    records: TurnRecordStore, sign: WorkSign, since: float, selector: AbstainingSelector | None
) -> list[FlaggedTurn]:
    """Return the turns with a sign since a time, found by the dialogs with flagged turns.

    Turns in which the assistant was unsure have no flag, so the latest dialogs are searched for
    them.
    """
    if sign == "unsure" and selector is None:
        return []
    flag = sign if sign == "down" or sign == "none" else None
    query = ConversationQuery(flag=flag, since=since)
    found: list[FlaggedTurn] = []
    after = None
    seen = 0
    while len(found) < MOST_TURNS and (flag is not None or seen < MAX_TURNS_READ):
        page = await records.conversations(query, after, _PAGE_ROWS)
        for dialog in page.items:
            found += await _find_in_dialog(records, dialog, sign, since, selector)
        seen += len(page.items)
        if page.next is None:
            break
        after = page.next
    return found


async def _find_in_dialog(
    records: TurnRecordStore,
    dialog: DialogSummary,
    sign: WorkSign,
    since: float,
    selector: AbstainingSelector | None,
) -> list[FlaggedTurn]:
    found: list[FlaggedTurn] = []
    before: int | None = None
    while True:
        turns = await records.turns(dialog.dialog_id, before, _PAGE_ROWS, newest=True)
        found += [_turn(dialog, one, sign) for one in turns if _counts(one, sign, since, selector)]
        if len(turns) < _PAGE_ROWS or turns[0].at < since:
            return found
        before = turns[0].position


def _counts(
    turn: ConversationTurn, sign: WorkSign, since: float, selector: AbstainingSelector | None
) -> bool:
    if sign == "unsure":
        signed = selector is not None and any(
            selector.is_abstention(name, turn.reply or "") for name in turn.spoke or [""]
        )
    else:
        signed = turn.flags is not None and sign in turn.flags
    return signed and turn.at >= since and bool(turn.utt_id and turn.said and turn.said.strip())


def _turn(dialog: DialogSummary, turn: ConversationTurn, sign: WorkSign) -> FlaggedTurn:
    return FlaggedTurn(
        utt_id=turn.utt_id or "",
        dialog_id=dialog.dialog_id,
        user=dialog.user,
        at=turn.at,
        said=turn.said or "",
        reply=turn.reply or "",
        spoke=turn.spoke,
        sign="down" if "down" in (turn.flags or ()) else sign,
    )


def _find_speakers(kept: KeptTurn | None, reply: BotUtterance | HumanUtterance) -> list[str]:
    """Return the skills of a reply: of its record if it is kept, else the active skill."""
    if kept is not None and kept.record is not None:
        return kept.record.speakers
    skill = reply.active_skill if isinstance(reply, BotUtterance) else ""
    return [skill] if skill else []


def _group_turns(turns: Sequence[FlaggedTurn]) -> list[WorkGroup]:
    groups: dict[int, list[FlaggedTurn]] = {}
    for number, turn in zip(near_duplicates([one.said for one in turns]), turns, strict=True):
        groups.setdefault(number, []).append(turn)
    return sorted((WorkGroup(one) for one in groups.values()), key=lambda one: one.order)
