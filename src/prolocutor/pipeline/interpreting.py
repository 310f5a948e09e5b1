"""From a service's replies to its slot: one interpreter for each stage, by a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from prolocutor.dialog.inputs import DirectReply
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply
from prolocutor.pipeline import replies
from prolocutor.pipeline.asking import Asking
from prolocutor.pipeline.draft import Draft
from prolocutor.pipeline.plan import Stage
from prolocutor.pipeline.waves import Waves


class Context(Protocol):
    """What an interpreter may touch of a turn; `least`: how sure a hypothesis must be to count."""

    draft: Draft
    waves: Waves
    least: float | None

    @property
    def skills(self) -> list[str]:
        """Names of all skills, in declared order."""

    @property
    def max_attributes(self) -> int:
        """The most attributes that a profile may have."""

    def fault(self, service: str, what: str) -> None:
        """Take note of something wrong that does not make the whole reply useless."""

    def remark(self, service: str, what: str) -> None:
        """Take note of something that is as it should be."""


Interpreter = Callable[[Context, Asking], None]
"""Writes the replies of an asking to the draft; `BadReply` where they cannot be read."""


def _annotation(turn: Context, asking: Asking) -> None:
    turn.draft.annotate(asking.step.name, asking.joined())


def _selection(turn: Context, asking: Asking) -> None:
    step = asking.step
    fault = _fault_of(turn, asking)
    value = asking.only().value
    if value == [] and step.service.wire == "deeppavlov":
        value = None
    turn.waves.propose(step.name, replies.selected(value, turn.skills, fault), fault)


def _hypotheses(turn: Context, asking: Asking) -> None:
    step, fault = asking.step, _fault_of(turn, asking)
    values: list[dict[str, Any]] = []
    for part, reply in enumerate(asking.replies):
        if isinstance(reply, Plain):
            found = replies.hypotheses(reply.value, fault)
            values += [{**one, "part": part} for one in found] if step.fan_out else found
    if len(values) > replies.MAX_HYPOTHESES:
        raise BadReply(f"{len(values)} hypotheses, more than {replies.MAX_HYPOTHESES}")
    if turn.least is not None:
        values = _at_least(turn.least, values, lambda what: turn.remark(step.name, what))
    turn.draft.hypothesize(step.name, values)


def _at_least(
    least: float, values: list[dict[str, Any]], remark: replies.Fault
) -> list[dict[str, Any]]:
    """Return the hypotheses that are sure enough; the others are on record, and do not count."""
    for value in values:
        if value["confidence"] < least:
            remark(f"a hypothesis of {value['confidence']:g} does not count: it takes {least:g}")
    return [value for value in values if value["confidence"] >= least]


def _candidate_annotations(turn: Context, asking: Asking) -> None:
    for candidate, reply in zip(asking.candidates or (), asking.replies, strict=True):
        if isinstance(reply, Plain):
            turn.draft.annotate_candidate(candidate, asking.step.name, reply)


def _choice(turn: Context, asking: Asking) -> None:
    draft = turn.draft
    value = asking.only().value
    if isinstance(value, dict) and value.get("abstain") is True:
        draft.abstain()
        return
    choice = replies.choice(value, lambda one: draft.find(one) is not None)
    if not choice.skill_name:
        _own_words(turn, choice)
        return
    if not draft.chosen(choice):
        raise BadReply(f"chooses '{choice.skill_name:.80}', which gave no hypothesis")
    draft.choose(choice, turn.max_attributes, _fault_of(turn, asking))


def _own_words(turn: Context, choice: replies.SelectorChoice) -> None:
    """A response selector speaks for itself, unless there are words for when nobody is sure."""
    if turn.least is not None:
        turn.draft.abstain()
        return
    messages = choice.messages or [{"type": "text", "text": choice.text}]
    turn.draft.say_itself(DirectReply(messages=messages, ask=choice.ask), choice.attributes)


def _rewriting(turn: Context, asking: Asking) -> None:
    turn.draft.rewrite(replies.rewritten(asking.only().value))


def _reply_annotation(turn: Context, asking: Asking) -> None:
    turn.draft.annotate_reply(asking.step.name, asking.joined())


def _last_words(turn: Context, asking: Asking) -> None:
    text, annotations = replies.last_words(asking.only().value)
    turn.draft.say("last_chance", asking.step.name, text, annotations)


INTERPRETERS: dict[Stage, Interpreter] = {
    Stage.ANNOTATOR: _annotation,
    Stage.SKILL_SELECTOR: _selection,
    Stage.SKILL: _hypotheses,
    Stage.CANDIDATE_ANNOTATOR: _candidate_annotations,
    Stage.RESPONSE_SELECTOR: _choice,
    Stage.POSTPROCESSOR: _rewriting,
    Stage.RESPONSE_ANNOTATOR: _reply_annotation,
    Stage.LAST_CHANCE: _last_words,
}


def _fault_of(turn: Context, asking: Asking) -> replies.Fault:
    return lambda what: turn.fault(asking.step.name, what)
