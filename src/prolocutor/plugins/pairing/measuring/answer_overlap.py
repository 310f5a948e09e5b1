"""Overlap: agents that answer the same questions, agents that never win, unanswered questions.

Where questions are labelled, an answer is good if its agent is right; a label without agents says
that none is. For other questions (all, if nothing is labelled; those of weight 0) it is a guess:
the answer is good if the ranker that needs no labels finds it likely to be right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData
from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker, fit
from prolocutor.reading.words import near_duplicates

_GOOD: Final = 0.5
_LIKELY: Final = 0.35
_MOST_PAIRS: Final = 20
_MOST_QUESTIONS: Final = 20
_MUCH: Final = 0.8
_FEW: Final = 10


class AnsweredQuestion(msgspec.Struct, frozen=True):
    """A question with its answers, and the agent that was selected, if that is known."""

    labelled: LabelledQuestion
    spoke: str | None = None


class AgentShare(msgspec.Struct, frozen=True, kw_only=True):
    """One agent: how often it was asked, answered well, was the only one to, and won.

    `won` counts the times it was selected; where no selection is known, the times it is right.
    """

    agent: str
    asked: int
    well: int
    alone: int
    won: int


class AgentPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two agents: how much they answer well together.

    `alike`: of the questions that either answers well, the share that both do. `covered`: of those
    that the `smaller` answers well, the share that the `larger` does too.
    """

    smaller: str
    larger: str
    both: int
    alike: float
    covered: float


class UnansweredQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question without a good answer, and how often it, or a near duplicate, was asked."""

    text: str
    times: int


class AnswerOverlap(msgspec.Struct, frozen=True, kw_only=True):
    """The overlap of agents. `labelled` questions have labels, `nobody` ones no good answer.

    `agents` come best first, `pairs` most alike first, `unanswered` most frequent first.
    """

    questions: int
    labelled: int
    nobody: int
    agents: list[AgentShare]
    pairs: list[AgentPair]
    unanswered: list[UnansweredQuestion]
    hints: list[str]


def compare_agents(
    answered: Sequence[AnsweredQuestion], agents: Sequence[str] = ()
) -> AnswerOverlap:
    """Compare all agents that answered, and those named in `agents`, asked or not."""
    answered = [one for one in answered if one.labelled.answers or one.labelled.gold]
    known = _are_labelled([one.labelled for one in answered])
    good = _good_answers([one.labelled for one in answered], known)
    names = dict.fromkeys(agents)
    for one in answered:
        names.update(dict.fromkeys((*one.labelled.answers, *sorted(one.labelled.gold))))
    shares = _shares(answered, good, list(names))
    pairs = _pairs(good, list(names))
    nobody = [
        one.labelled.question.text for one, its in zip(answered, good, strict=True) if not its
    ]
    return AnswerOverlap(
        questions=len(answered),
        labelled=sum(known),
        nobody=len(nobody),
        agents=shares,
        pairs=pairs[:_MOST_PAIRS],
        unanswered=_group_questions(nobody),
        hints=[*_hints(shares, pairs, len(nobody), len(answered))],
    )


def _are_labelled(labelled: Sequence[LabelledQuestion]) -> list[bool]:
    some = any(one.weight > 0 and (one.gold or one.agents) for one in labelled)
    return [some and one.weight > 0 for one in labelled]


def _good_answers(
    questions: Sequence[LabelledQuestion], are_labelled: Sequence[bool]
) -> list[frozenset[str]]:
    """Return for each question the agents whose answer is good."""
    ranker = fit(TrainingData(labelled=questions))
    return [
        _right(one) if labelled else _likely(one, ranker)
        for one, labelled in zip(questions, are_labelled, strict=True)
    ]


def _right(one: LabelledQuestion) -> frozenset[str]:
    return one.gold or frozenset(name for name, share in one.agents.items() if share >= _GOOD)


def _likely(one: LabelledQuestion, ranker: UnsupervisedRanker) -> frozenset[str]:
    answers = [AgentAnswer(agent=agent, text=text) for agent, text in one.answers.items()]
    ranked = ranker.rank(one.question, answers, {})
    return frozenset(pair.agent for pair in ranked if pair.probability >= _LIKELY)


def _shares(
    answered: Sequence[AnsweredQuestion], good: Sequence[frozenset[str]], names: Sequence[str]
) -> list[AgentShare]:
    asked, won = Counter[str](), Counter[str]()
    known = any(one.spoke is not None for one in answered)
    for one in answered:
        asked.update([*one.labelled.answers])
        won.update([one.spoke] if one.spoke is not None else () if known else one.labelled.gold)
    well = Counter(agent for its in good for agent in its)
    alone = Counter(agent for its in good if len(its) == 1 for agent in its)
    found = [
        AgentShare(agent=one, asked=asked[one], well=well[one], alone=alone[one], won=won[one])
        for one in names
    ]
    return sorted(found, key=lambda one: (-one.won, -one.well, one.agent))


def _pairs(good: Sequence[frozenset[str]], names: Sequence[str]) -> list[AgentPair]:
    positions: dict[str, set[int]] = {name: set() for name in names}
    for position, its in enumerate(good):
        for agent in its:
            positions[agent].add(position)
    found = []
    for first, second in combinations(names, 2):
        smaller, larger = sorted((first, second), key=lambda name: len(positions[name]))
        both = len(positions[smaller] & positions[larger])
        if both:
            alike = both / len(positions[smaller] | positions[larger])
            covered = both / len(positions[smaller])
            found.append(
                AgentPair(smaller=smaller, larger=larger, both=both, alike=alike, covered=covered)
            )
    return sorted(found, key=lambda one: (-one.alike, one.smaller, one.larger))


def _group_questions(texts: Sequence[str]) -> list[UnansweredQuestion]:
    groups: dict[int, list[str]] = {}
    for text, group in zip(texts, near_duplicates(texts), strict=True):
        groups.setdefault(group, []).append(text)
    found = [UnansweredQuestion(text=its[0], times=len(its)) for its in groups.values()]
    return sorted(found, key=lambda one: -one.times)[:_MOST_QUESTIONS]


def _hints(
    shares: Sequence[AgentShare], pairs: Sequence[AgentPair], nobody: int, questions: int
) -> Iterator[str]:
    if questions < _FEW:
        yield f"{questions} questions tell little; ask again after some more"
        return
    by_name: Mapping[str, AgentShare] = {one.agent: one for one in shares}
    for one in shares:
        if not one.asked and not one.won and not one.well:
            yield f"{one.agent} was never asked: look at its card, or ask everybody for a while"
        elif not one.won:
            yield f"{one.agent} never wins: {_why_not(one)}"
    for pair in pairs:
        smaller = by_name[pair.smaller]
        if pair.covered >= _MUCH and smaller.well >= _FEW:
            yield (
                f"{pair.smaller} answers little that {pair.larger} does not "
                f"({100 * pair.covered:.0f} % of its {smaller.well:,}): "
                f"{_what_then(smaller)}"
            )
    if questions and nobody / questions >= 0.2:
        yield (
            f"{100 * nobody / questions:.0f} % of the questions have no good answer: "
            "see what they are about, and add an agent for that"
        )


def _why_not(one: AgentShare) -> str:
    if not one.well:
        return "no answer of it looks good; it costs calls for nothing"
    if not one.alone:
        return "others answer all that it answers"
    return f"though it alone answers {one.alone:,} questions well; does its confidence say so?"


def _what_then(smaller: AgentShare) -> str:
    if not smaller.alone:
        return "one of the two could go, or the cheaper one be asked first"
    return f"ask it second, it alone answers {smaller.alone:,}"
