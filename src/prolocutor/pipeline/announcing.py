"""Reports on a turn for its observers: events while it runs, records at its end.

Words of a skill are provisional until the reply is stored. Only the words of the expected speaker
are passed on (`TurnAnnouncer.will_speak`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, final

from prolocutor.contracts.observer import ServiceRecord
from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import MAX_BYTES
from prolocutor.dialog.turn_events import (
    Delta,
    Replaced,
    ServiceAsked,
    ServiceSettled,
    StageEnded,
    StageStarted,
    TurnListener,
)
from prolocutor.errors import BreakerOpen, NoPlace
from prolocutor.pipeline.draft import Draft, DraftHypothesis
from prolocutor.pipeline.ledger import Ledger, LedgerEntry
from prolocutor.pipeline.slots import SkillSelection
from prolocutor.plan.pipeline import Commit, Stage

GOOD_CONFIDENCE: Final = 0.8
"""The confidence with which a skill counts as good while others are still running."""

_NOT_MADE: Final = (BreakerOpen, NoPlace)
"""Errors of calls that were not made."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@final
class TurnAnnouncer:
    """Sends events about the services in the ledger of a turn to a listener.

    `commit` is the pipeline's.
    """

    def __init__(
        self,
        listener: TurnListener,
        commit: Commit,
        ledger: Ledger,
        selection: SkillSelection,
        draft: Draft,
        start: TurnStart,
    ) -> None:
        self.listener = listener
        self._commit = commit
        self._ledger = ledger
        self._selection = selection
        self._draft = draft
        self._start = start
        self._running: set[Stage] = set()
        self._left: dict[Stage, int] = {}
        for entry in ledger.entries:
            stage = entry.step.stage
            self._left[stage] = self._left.get(stage, 0) + 1
        self._words: dict[int, SkillWords] = {}
        self._speaker: SkillWords | None = None

    @property
    def shown_words(self) -> tuple[str, str] | None:
        """The skill whose words are shown now, and the words; None if no words are shown."""
        words = self._speaker
        return None if words is None or not words.so_far else (words.skill, words.so_far)

    def close(self) -> None:
        """Drop the references to the ledger and the words, which refer to this object too."""
        self._ledger.watches = ()
        self._words.clear()
        self._speaker = None

    def skill_words(self, entry: LedgerEntry) -> SkillWords | None:
        """Return the sink for a service's words, None if they cannot be a reply."""
        step = entry.step
        if step.stage is not Stage.SKILL or self._commit == "never":
            return None
        if step.fan_out or step.format_reply is not None:
            return None
        words = self._words[step.index] = SkillWords(self, entry)
        return words

    def note_asked(self, entry: LedgerEntry) -> None:
        """Announce a question to a service, and the start of its stage before the first service."""
        step = entry.step
        if entry.ended is not None:  # it is asked again
            self._left[step.stage] += 1
        if step.stage not in self._running:
            self._running.add(step.stage)
            self.listener(StageStarted(step.stage_name))
        self.listener(ServiceAsked(step.name, step.stage_name))

    def note_settled(self, entry: LedgerEntry) -> None:
        """Announce the outcome of a service if it was asked, and the end of a finished stage."""
        step = entry.step
        if entry.started is not None and entry.outcome is not None:
            seconds = (entry.ended or entry.started) - entry.started
            self.listener(ServiceSettled(step.name, step.stage_name, entry.outcome, seconds))
        self._left[step.stage] -= 1
        if not self._left[step.stage] and step.stage in self._running:
            self._running.remove(step.stage)
            self.listener(StageEnded(step.stage_name))
        if self._words and step.stage is Stage.SKILL:
            self._look_again(entry)

    def says(self, words: SkillWords, text: str) -> None:
        """Pass words on if their skill is expected to speak."""
        if self._speaker is words:
            self.listener(Delta(words.skill, text))
        elif self._speaker is None and self.will_speak(words):
            self._speaker = words
            self.listener(Delta(words.skill, words.so_far))

    def takes_back(self, words: SkillWords) -> None:
        """Take back the words if they were passed on."""
        if self._speaker is words:
            self._speaker = None
            self.listener(Replaced())

    def will_speak(self, words: SkillWords) -> bool:
        """Return whether a skill is expected to speak, as far as is known now.

        It is, if no other skill can: all other selected skills have settled without a hypothesis,
        and no selector may select more. With `last` and `first_good`, a selector may still select
        more. With `first_good`, it also is if its confidence is known and above the confidence of
        every hypothesis, and either its confidence is `GOOD_CONFIDENCE` or no other skill is
        running.
        """
        ledger, entry, confidence = self._ledger, words.entry, words.confidence
        if ledger.selecting or entry.wave is None or self._draft.reply is not None:
            return False
        least = self._start.least
        if least is not None and (confidence is None or confidence < least):
            return False
        others = (
            skill for skill in ledger.skills() if skill.wave is not None and skill is not entry
        )
        is_running = any(other.outcome is None for other in others)
        rivals = [hypothesis.value["confidence"] for hypothesis in self._draft.all_hypotheses()]
        if not (rivals or is_running):
            return self._commit != "only" or ledger.closed or not self._selection.is_open
        if self._commit != "first_good":
            return False
        if confidence is None or confidence <= max(rivals, default=confidence - 1):
            return False
        return confidence >= GOOD_CONFIDENCE or not is_running

    def _look_again(self, entry: LedgerEntry) -> None:
        """Handle a settled skill: take back its words if it failed; look for another speaker."""
        words = self._words.get(entry.step.index)
        if words is not None and entry.outcome != "done":
            self.takes_back(words)
        if self._speaker is None:
            for other in self._words.values():
                if other.so_far and other.entry.outcome is None:
                    self.says(other, "")


class SkillWords:
    """The words of a skill so far in a turn; a `DeltaSink`."""

    def __init__(self, announcer: TurnAnnouncer, entry: LedgerEntry) -> None:
        self.entry = entry
        self.skill = entry.step.name
        self.confidence: float | None = None
        self._announcer = announcer
        self._pieces: list[str] = []
        self._left = MAX_BYTES

    @property
    def so_far(self) -> str:
        """All words so far."""
        return "".join(self._pieces)

    def add(self, text: str, confidence: float | None = None) -> None:
        """Add words; ignore late words, too long words and invalid Unicode."""
        if not text.isascii() and _SURROGATE.search(text):
            self._left = 0
        self._left -= len(text)
        if not text or self._left < 0 or self.entry.outcome is not None:
            return
        if confidence is not None:
            self.confidence = confidence
        self._pieces.append(text)
        self._announcer.says(self, text)

    def restart(self) -> None:
        """Take back all words so far."""
        if self._pieces:
            self._pieces.clear()
            self._left = MAX_BYTES
            self._announcer.takes_back(self)


def records_of_services(
    entries: Iterable[LedgerEntry], began: float, draft: Draft
) -> list[ServiceRecord]:
    """Return the record of each service; of the last chance only if it was asked."""
    return [
        record_of_service(
            entry,
            began,
            draft.skill_hypotheses(entry.step.name) if entry.step.stage is Stage.SKILL else (),
        )
        for entry in entries
        if entry.started is not None or not entry.step.is_last_chance
    ]


def record_of_service(
    entry: LedgerEntry, began: float, given: Sequence[DraftHypothesis] = ()
) -> ServiceRecord:
    """Return the record of a service, its times in seconds since the turn's start.

    `given` are its hypotheses. Its cost is the sum of the costs in the replies; if they state no
    cost, it is the number of calls times the price on its card. A call not made does not count: its
    breaker was open, or too many calls were running.
    """
    error = entry.error
    calls = 0 if isinstance(error, _NOT_MADE) else entry.calls
    costs, sure = [], None
    for one in given:
        confidence = float(one.value["confidence"])
        if sure is None or confidence > sure:
            sure = confidence
        cost = one.value.get("cost")
        if cost is not None and isinstance(cost, int | float):
            costs.append(cost)
    return ServiceRecord(
        name=entry.step.name,
        stage=entry.step.stage_name,
        outcome=entry.outcome or "skipped",
        started=None if entry.started is None else entry.started - began,
        ended=None if entry.ended is None else entry.ended - began,
        calls=calls,
        error=str(error) if error else None,
        code=error.code if error else None,
        cost=float(sum(costs)) if costs else calls * entry.step.price,
        hypotheses=len(given),
        sure=sure,
    )
