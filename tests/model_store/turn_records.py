"""Records of turns in the in-memory store: every question goes through all dialogs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store.turn_record_store import (
    TURN_FLAGS,
    AgentSpan,
    ConversationCounts,
    ConversationHead,
    ConversationPage,
    ConversationQuery,
    ConversationTurn,
    DialogPlace,
    DialogSummary,
    KeptTurn,
    TurnHour,
)
from prolocutor.dialog import plain, splicing
from prolocutor.dialog.ids import parse_time
from prolocutor.durations import HOUR
from prolocutor.stores.agent_figures import FiguresKey, add_figures, summed_up
from prolocutor.stores.turn_records import (
    DOWN,
    UP,
    count_hour,
    cut,
    flags_of,
    search_words,
    search_words_of,
    shown_flags,
    unpack,
)
from prolocutor.stores.turn_rows import TurnRow, joined_turns
from tests.model_store.state import KeptRecord, ModelDialog, ModelState, ModelUtterance


class ModelTurnRecords:
    """Implements `TurnRecordStore`."""

    def __init__(self, state: ModelState) -> None:
        self._state = state

    async def add(self, records: Sequence[TurnRecord], *, slow: float) -> None:
        """Keep records."""
        for record in records:
            if record.utt_id in self._state.utterances:
                kept = KeptRecord(record, *flags_of(record, slow))
                self._state.turn_records[record.utt_id] = kept

    async def tend(self, *, now: float, keep: float, most: int) -> bool:
        """Delete records that are old, or too many."""
        kept = self._state.turn_records
        surplus = len(kept) - most
        doomed: list[str] = []
        for utt_id, one in kept.items():  # oldest first
            if one.at >= now - keep and len(doomed) >= surplus:
                break
            doomed.append(utt_id)
        for utt_id in doomed:
            del kept[utt_id]
        return False

    async def conversations(
        self, query: ConversationQuery, after: DialogPlace | None, limit: int
    ) -> ConversationPage:
        """Return the dialogs that match, from the place `after` on."""
        found = [
            one
            for one in self._found(query)
            if query.flag is None or query.flag in one.summary.flags
        ]
        found.sort(key=lambda one: (one.at, one.number), reverse=True)
        if after is not None:
            found = [one for one in found if (one.at, one.number) < (after.at, after.number)]
        shown = found[:limit]
        next_ = DialogPlace(shown[-1].at, shown[-1].number) if len(found) > limit else None
        return ConversationPage([one.summary for one in shown], next_)

    async def counts(self, query: ConversationQuery) -> ConversationCounts:
        """Count the dialogs that match, whatever the query's own flag."""
        found = [one.summary for one in self._found(query)]
        flags = {flag: sum(flag in one.flags for one in found) for flag in TURN_FLAGS}
        return ConversationCounts(all=len(found), **flags)

    async def hours(self, since: float, until: float) -> list[TurnHour]:
        """Return the hours that have turns, ascending."""
        hours: dict[int, TurnHour] = {}
        for one in self._state.turn_records.values():
            hour = int(one.at) // HOUR * HOUR
            if since <= hour < until:
                count_hour(hours.setdefault(hour, TurnHour(at=hour)), one.flags)
        return [hours[hour] for hour in sorted(hours)]

    async def figures(
        self, since: float, until: float, agent: str | None = None
    ) -> list[AgentSpan]:
        """Return what agents (one of them) did, by time, then by name."""
        figures: dict[FiguresKey, AgentSpan] = {}
        for utt_id, one in self._state.turn_records.items():
            if not since - HOUR <= one.at < until + HOUR:
                continue
            record = unpack(one.packed, user="", dialog_id="", utt_id=utt_id)
            if record is not None:
                add_figures(figures, record, up=bool(one.flags & UP), down=bool(one.flags & DOWN))
        return [
            figures[key]
            for key in sorted(figures)
            if since <= key[0] < until and agent in (None, key[1])
        ]

    async def totals(self, since: float, until: float) -> list[AgentSpan]:
        """Return what agents did in all, by name."""
        found = summed_up(await self.figures(since, until), since)
        return [found[name] for name in sorted(found)]

    async def head(self, dialog_id: str) -> ConversationHead | None:
        """Return a dialog by its id."""
        dialog = self._state.dialogs.get(dialog_id)
        if dialog is None:
            return None
        return ConversationHead(
            dialog_id=dialog.dialog_id,
            user=dialog.person.user,
            name=dialog.name,
            channel=dialog.channel_type,
            started=parse_time(dialog.date_start),
            active=dialog.active,
        )

    async def turns(
        self, dialog_id: str, after: int | None, limit: int, *, newest: bool = False
    ) -> list[ConversationTurn]:
        """Return turns of a dialog."""
        dialog = self._state.dialogs.get(dialog_id)
        turns = [] if dialog is None else self._turns_of(dialog)
        if newest:
            return [one for one in turns if after is None or one.position < after][-limit:]
        return [one for one in turns if after is None or one.position > after][:limit]

    async def turn(self, utt_id: str) -> KeptTurn | None:
        """Return the turn whose reply has this id."""
        dialog, reply = self._state.utterances.get(utt_id, (None, None))
        if dialog is None or reply is None or not reply.parts.by_bot:
            return None
        kept = self._state.turn_records.get(utt_id)
        record = None
        if kept is not None:
            user = dialog.person.user
            record = unpack(kept.packed, user=user, dialog_id=dialog.dialog_id, utt_id=utt_id)
        return KeptTurn(
            utt_id=utt_id,
            dialog_id=dialog.dialog_id,
            position=dialog.utterances.index(reply),
            flags=None if kept is None else shown_flags(kept.flags),
            rating=_rating_of(reply),
            record=record,
        )

    def _turns_of(
        self, dialog: ModelDialog, *, with_records: bool = True
    ) -> list[ConversationTurn]:
        rows = [
            _row(position, one, self._state.turn_records.get(one.utt_id), with_records)
            for position, one in enumerate(dialog.utterances)
        ]
        ratings = {
            position: splicing.last_rating(one.ratings)
            for position, one in enumerate(dialog.utterances)
            if one.ratings
        }
        return joined_turns(rows, ratings)

    def _found(self, query: ConversationQuery) -> Iterator[_MatchingDialog]:
        """Iterate over the dialogs that match, but for the query's flag."""
        words = None if query.words is None else search_words(query.words)
        for dialog in self._state.dialogs_of(query.user):
            if not dialog.utterances or not _fits(dialog, query):
                continue
            turns = self._turns_of(dialog, with_records=False)
            if not _in_time(turns, query):
                continue
            hit = turns[-1]
            if words is not None:
                hits = [one for one in turns if one.utt_id and words and _has(one, words)]
                if not hits:
                    continue
                hit = hits[-1]
            summary = self._summary(dialog, turns, hit, words is not None)
            yield _MatchingDialog(
                hit.at if words is not None else summary.at, dialog.number, summary
            )

    def _summary(
        self,
        dialog: ModelDialog,
        turns: list[ConversationTurn],
        shown: ConversationTurn,
        hit: bool,
    ) -> DialogSummary:
        kept = [self._state.turn_records.get(one.utt_id or "") for one in turns]
        flags = 0
        for one in kept:
            flags |= 0 if one is None else one.flags
        return DialogSummary(
            dialog_id=dialog.dialog_id,
            user=dialog.person.user,
            channel=dialog.channel_type,
            active=dialog.active,
            at=turns[-1].at,
            said=cut(shown.said or ""),
            reply=cut(shown.reply or ""),
            spoke=sorted({one.skill for one in dialog.utterances if one.skill}),
            turns=len(turns),
            slowest=max((one.seconds for one in kept if one is not None), default=0.0),
            cost=sum(one.cost for one in kept if one is not None),
            failed=sum(one.failed for one in kept if one is not None),
            flags=shown_flags(flags),
            hit=shown.utt_id if hit else None,
        )


class _MatchingDialog(msgspec.Struct, frozen=True):
    """A dialog that matches, and its place among the others."""

    at: float
    number: int
    summary: DialogSummary


def _fits(dialog: ModelDialog, query: ConversationQuery) -> bool:
    return (
        (query.channel is None or dialog.channel_type == query.channel)
        and (query.ids is None or dialog.dialog_id in query.ids)
        and (query.agent is None or any(one.skill == query.agent for one in dialog.utterances))
    )


def _in_time(turns: list[ConversationTurn], query: ConversationQuery) -> bool:
    since = -1.0 if query.since is None else query.since
    return any(since <= one.at and (query.until is None or one.at < query.until) for one in turns)


def _has(turn: ConversationTurn, words: list[str]) -> bool:
    return all_of((turn.said or "", turn.reply or ""), words)


def _rating_of(utterance: ModelUtterance) -> object:
    return plain.decode(splicing.last_rating(utterance.ratings)) if utterance.ratings else None


def _row(position: int, one: ModelUtterance, kept: KeptRecord | None, with_record: bool) -> TurnRow:
    row = TurnRow(
        utterance=position,
        position=position,
        utt_id=one.utt_id,
        by_bot=int(one.parts.by_bot),
        date_time=one.date_time,
        body=one.parts.body,
    )
    if kept is None:
        return row
    return msgspec.structs.replace(
        row,
        at=kept.at,
        seconds=kept.seconds,
        cost=kept.cost,
        flags=kept.flags,
        record=kept.packed if with_record else None,
    )


def all_of(texts: Iterable[str], words: Iterable[str]) -> bool:
    """Return whether each of the words begins a word of the texts."""
    said = {one.casefold() for text in texts for one in search_words_of(text)}
    return all(any(one.startswith(word.casefold()) for one in said) for word in words)
