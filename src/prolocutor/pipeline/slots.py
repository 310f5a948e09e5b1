"""Writes the replies of services to their slots in the draft, and selects skills.

A wave is the skills selected together. When all of a wave have settled, the candidate
annotators look at its hypotheses. A plain list of names is a single wave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import iscoroutine, signature
from itertools import chain
from time import monotonic
from typing import Any, Final

import msgspec

from prolocutor.contracts.observer import LoggedChoice, Reason
from prolocutor.contracts.selection import Enough, More, Selection
from prolocutor.dialog.inputs import DirectReply, TurnStart
from prolocutor.dialog.plain import Plain
from prolocutor.dialog.profile_changes import Fault
from prolocutor.errors import BadReply, ServiceError
from prolocutor.functions import text_and_place
from prolocutor.pipeline import replies
from prolocutor.pipeline.calling import CallGroup
from prolocutor.pipeline.draft import Draft
from prolocutor.pipeline.ledger import Ledger, LedgerEntry
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.pipeline.variants import WHOLE
from prolocutor.plan.pipeline import Stage

State = dict[str, Any]

# Members of an enum are slow to look up in it.
_ANNOTATOR: Final = Stage.ANNOTATOR
_SKILL_SELECTOR: Final = Stage.SKILL_SELECTOR
_SKILL: Final = Stage.SKILL
_CANDIDATE_ANNOTATOR: Final = Stage.CANDIDATE_ANNOTATOR
_RESPONSE_SELECTOR: Final = Stage.RESPONSE_SELECTOR
_POSTPROCESSOR: Final = Stage.POSTPROCESSOR
_RESPONSE_ANNOTATOR: Final = Stage.RESPONSE_ANNOTATOR


class SlotWriter:
    """Writes the replies of a turn's services to their slots in its draft.

    `faults` are errors in replies still of use; `remarks` are not errors, but interesting
    for observers of the turn.
    """

    def __init__(
        self,
        prepared: PreparedPipeline,
        start: TurnStart,
        draft: Draft,
        ledger: Ledger,
        selection: SkillSelection,
    ) -> None:
        self.faults: list[dict[str, str]] = []
        self.remarks: list[dict[str, str]] = []
        self._skills, self._skills_of_label = prepared.skills, prepared.skills_of_label
        self._max_attributes = prepared.max_attributes
        self._least = start.least
        self._may_be_silent = prepared.may_be_silent or start.otherwise is not None
        self._draft = draft
        self._ledger = ledger
        self._selection = selection

    def write(self, entry: LedgerEntry, group: CallGroup) -> None:
        """Write the replies of a service to its slot; raise `BadReply` if they cannot be read."""
        step, draft = group.step, self._draft
        stage = step.stage
        if stage is _SKILL:
            draft.hypothesize(step.name, self._hypotheses(group))
        elif stage is _ANNOTATOR:
            if (note := group.annotation_value()) is not None:
                draft.annotate(step.label, note)
        elif stage is _CANDIDATE_ANNOTATOR:
            self._annotations(group)
        elif stage is _SKILL_SELECTOR:
            self._propose(group)
        elif stage is _RESPONSE_SELECTOR:
            self._choose(group)
        elif stage is _POSTPROCESSOR:
            draft.rewrite(replies.read_rewritten_text(group.only().value))
        elif stage is _RESPONSE_ANNOTATOR:
            if (note := group.annotation_value()) is not None:
                draft.annotate_reply(step.label, note)
        else:
            text, annotations, confidence = replies.last_words(group.only().value)
            draft.say("last_chance", step.name, text, annotations, confidence=confidence)
        if group.reshape is not None:
            for reply in group.replies:
                if isinstance(reply, replies.EffectsReply):
                    self._affect(entry, reply)

    def learn(self, step: ServiceStep, reply: Plain | ServiceError) -> None:
        """Add the attributes of a skill called after the reply."""
        fault = self.fault_recorder(step.name)
        try:
            if isinstance(reply, ServiceError):
                fault(str(reply))
                return
            hypotheses = replies.hypotheses(reply, fault, silent=True)
        except ServiceError as error:
            step.guard.note(error)
            fault(str(error))
            return
        step.guard.note(None)
        if hypotheses:
            best = max(hypotheses, key=lambda one: one.value["confidence"])
            self._draft.learn(best.value, self._max_attributes, fault)

    def fault(self, service: str, what: str) -> None:
        """Record an error that does not make a whole reply useless."""
        self.faults.append({"service": service, "what": what})

    def fault_recorder(self, service: str) -> Fault:
        """Return the function to record faults of a service."""
        return partial(self.fault, service)

    def _affect(self, entry: LedgerEntry, reply: replies.EffectsReply) -> None:
        """Apply the effects of a reply beside its slot."""
        step, draft, effects = entry.step, self._draft, reply.effects
        if effects.asks is not None:
            self._ledger.skip_others(entry, effects.asks, monotonic())
        if reply.previous is not None:
            draft.annotate_previous_reply(step.label, reply.previous)
        human, bot = effects.human_attributes, effects.bot_attributes
        if human or bot:
            changes = {"human_attributes": human, "bot_attributes": bot}
            draft.learn(changes, self._max_attributes, self.fault_recorder(step.name))

    def _hypotheses(self, group: CallGroup) -> list[replies.SkillReply]:
        step, fault = group.step, self.fault_recorder(group.step.name)
        if len(group.replies) == 1 and not step.fan_out:
            hypotheses = replies.hypotheses(group.only(), fault, silent=self._may_be_silent)
        else:
            hypotheses = []
            for part, reply in enumerate(group.replies):
                if isinstance(reply, Plain):
                    part_hypotheses = replies.hypotheses(reply, fault, silent=self._may_be_silent)
                    hypotheses += (
                        _number_parts(part_hypotheses, part) if step.fan_out else part_hypotheses
                    )
        if step.label != step.name:
            hypotheses = [one.labelled_copy(step.label) for one in hypotheses]
        if len(hypotheses) > replies.MAX_HYPOTHESES:
            raise BadReply(f"{len(hypotheses)} hypotheses, more than {replies.MAX_HYPOTHESES}")
        least = self._least
        if least is None:
            return hypotheses
        good = []
        for one in hypotheses:
            confidence = one.value["confidence"]
            if confidence >= least:
                good.append(one)
            else:
                what = f"a hypothesis of {confidence:g} does not count: it takes {least:g}"
                self.remarks.append({"service": step.name, "what": what})
        return good

    def _annotations(self, group: CallGroup) -> None:
        step, about = group.step, group.about or []
        noted: list[Plain | ServiceError | None] = [*group.replies]
        of_all = [
            one for one in noted if isinstance(one, replies.EffectsReply) and not one.has_value
        ]
        if of_all:  # each is about all hypotheses: the last one counts
            noted = (
                [None] * len(about) if of_all[-1].hypotheses is None else [*of_all[-1].hypotheses]
            )
            if len(noted) != len(about):
                raise BadReply(f"{len(noted)} items for {len(about)} hypotheses")
        elif step.together:
            noted = [*replies.notes(group.only(), len(about), self.fault_recorder(step.name))]
        for one, reply in zip(about, noted, strict=True):
            if isinstance(reply, Plain):
                self._draft.annotate_hypothesis(one, step.label, reply)

    def _propose(self, group: CallGroup) -> None:
        step, fault = group.step, self.fault_recorder(group.step.name)
        value = group.only().value
        if value == [] and step.empty_means_all:
            value = None
        if self._skills_of_label and isinstance(value, list):
            same = [self._skills_of_label.get(one, ()) for one in value if isinstance(one, str)]
            value = [*value, *chain.from_iterable(same)]
        selection = replies.read_selection(value, self._skills, fault)
        self._selection.propose(step.name, selection, fault)

    def _choose(self, group: CallGroup) -> None:
        draft, reply = self._draft, group.only()
        value, carries = reply.value, True
        if isinstance(reply, replies.EffectsReply):
            carries = reply.effects.carries
        for what in replies.own_faults(value):
            self.fault(group.step.name, what)
        if isinstance(value, dict) and value.get("abstain") is True:
            draft.abstain()
            return
        choice = replies.choice(value, draft.find, silent=self._may_be_silent)
        if choice.skill_name:
            if carries and not draft.chosen_hypotheses(choice):
                raise BadReply(f"chooses '{choice.skill_name:.80}', which gave no hypothesis")
            fault = self.fault_recorder(group.step.name)
            draft.choose(choice, self._max_attributes, fault, carries=carries)
        elif self._least is not None:
            draft.abstain()  # there are words for when no hypothesis is sure enough
        else:
            messages = choice.messages or [{"type": "text", "text": choice.text}]
            draft.say_own_words(DirectReply(messages=messages, ask=choice.ask), choice.attributes)


def _number_parts(skill_replies: list[replies.SkillReply], part: int) -> list[replies.SkillReply]:
    return [reply.mark_part(part) for reply in skill_replies]


class _WaveChooser:
    """A skill selector's `more`, which selects further skills as answers come in."""

    __slots__ = ("fault", "more", "selector", "wants_settled")

    def __init__(self, selector: str, more: More, fault: Fault) -> None:
        self.selector = selector
        self.more = more
        self.fault = fault
        self.wants_settled = "settled" in _parameters(more)


class SkillSelection:
    """The answers of the skill selectors of a turn.

    `reasons` are the selectors' reasons, `version` is the last named version of a model. `known`
    are all skills, `always` the skills asked in any case. `instead` maps skills to the skills asked
    in their place, None: the skill is not asked.
    """

    def __init__(
        self,
        known: list[str],
        always: Sequence[str] = (),
        instead: Mapping[str, str | None] = WHOLE.instead,
    ) -> None:
        self.reasons: list[Reason] = []
        self.choices: list[LoggedChoice] = []
        self.version = ""
        self._instead = instead
        self._known = known
        self._always = always
        self._names: list[str] | None = None
        self._choosers: list[_WaveChooser] = []

    @property
    def is_open(self) -> bool:
        """Whether a selector may select more skills."""
        return bool(self._choosers)

    def propose(self, selector: str, selection: Selection, fault: Fault) -> None:
        """Add the answer of a skill selector; the selection is the union of all."""
        first = self._replace_skills(selection.first)
        self._names = [*(self._names or ()), *first]
        self._note(selector, first, selection.reason)
        self.choices += [
            msgspec.structs.replace(choice, service=selector) for choice in selection.choices
        ]
        self.version = selection.version or self.version
        if selection.more is not None:
            self._choosers.append(_WaveChooser(selector, selection.more, fault))

    def first(self, preferred: str | None = None) -> list[str]:
        """Return the skills to ask first; without a proposal, all skills."""
        if self._names is None:
            return self._known
        names = (
            [*self._names, *self._replace_skills([*self._always])] if self._always else self._names
        )
        return [*names, preferred] if preferred else names

    def more(
        self, hypotheses: Callable[[], list[State]], settled: list[str], seconds_left: float
    ) -> list[str] | Enough:
        """Ask the selectors for the next skills; each gets its own copy of the hypotheses."""
        names: list[str] = []
        for chooser in self._choosers:
            answer = self._ask(chooser, hypotheses(), settled, seconds_left)
            if isinstance(answer, Enough):
                self._note(chooser.selector, [], answer.reason)
                return answer
            chosen = self._replace_skills(answer.first)
            self._note(chooser.selector, chosen, answer.reason)
            names.extend(chosen)
        return names

    def _replace_skills(self, names: list[str]) -> list[str]:
        """Return the skills to ask in place of the named skills."""
        if not self._instead:
            return names
        placed = [self._instead.get(name, name) for name in names]
        return [*dict.fromkeys(one for one in placed if one is not None)]

    def _ask(
        self, chooser: _WaveChooser, hypotheses: list[State], settled: list[str], seconds: float
    ) -> Selection | Enough:
        fault = chooser.fault
        places = [old for old, new in self._instead.items() if new in settled]
        also = {"settled": [*settled, *places]} if chooser.wants_settled else {}
        try:
            answer: Any = chooser.more(hypotheses, seconds, **also)
            if isinstance(answer, Enough):
                return answer
            if iscoroutine(answer):
                answer.close()
                raise BadReply("is async; `more` must answer at once")
            return replies.read_selection([] if answer is None else answer, self._known, fault)
        except BadReply as error:
            fault(f"choosing more skills: {error}")
        except BaseException as error:
            fault(f"choosing more skills raised {text_and_place(error)}")
        return Selection([])

    def _note(self, selector: str, names: list[str], reason: str) -> None:
        if reason:
            if not reason.isascii():  # quotes of a person may have lone surrogates
                reason = reason.encode(errors="replace").decode()
            self.reasons.append({"service": selector, "asked": names, "reason": reason})


def _parameters(more: More) -> Iterable[str]:
    try:
        return signature(more).parameters
    except (TypeError, ValueError):
        return ()
