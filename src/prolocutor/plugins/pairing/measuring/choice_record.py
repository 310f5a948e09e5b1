"""Choices of methods: scored on questions, and recorded question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, Card, LabelledQuestion, Pairing, UserQuestion
from prolocutor.errors import BadData, BadInput
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice, PairingStage
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.question_agent.cards import documents
from prolocutor.plugins.pairing.text import Bm25, stems

_SHOWN: Final = 3

Steps = Sequence[Sequence[str]]
"""The agents asked, step by step: those of one step at the same time."""


class ChoiceScoring:
    """Makes choices of agents on the questions of a test, by their number in it."""

    def __init__(self, data: PairingData) -> None:
        self._data = data
        self._prices = {card.name: card.price for card in data.cards}

    def answers(self, position: int) -> list[AgentAnswer]:
        """Return the answers to a question, in the order of the agents."""
        given = self._data.test[position].answers
        return [
            AgentAnswer(agent=one, text=given[one]) for one in self._data.agents if one in given
        ]

    def asked(self, position: int) -> list[str]:
        """Return the agents that were asked a question, with or without an answer."""
        one = self._data.test[position]
        return [*(one.calls or one.answers)]

    def of_agent(
        self,
        position: int,
        agent: str,
        steps: Steps,
        *,
        seconds: float = 0.0,
        probability: float | None = None,
        ranked: tuple[tuple[str, float], ...] = (),
        scores: dict[str, float] | None = None,
    ) -> MethodChoice:
        """Return the choice of an agent after asking step by step."""
        one = self._data.test[position]
        asked = [agent for step in steps for agent in step]
        return MethodChoice(
            agent=agent,
            right=float(agent in one.gold),
            called=len(asked),
            cost=self._cost(one, asked),
            wait=_wait(one, steps),
            seconds=seconds,
            probability=probability,
            ranked=ranked,
            scores=scores or {},
        )

    def of_pairs(
        self, position: int, pairs: Sequence[Pairing], seconds: float, steps: Steps | None = None
    ) -> MethodChoice:
        """Return the choice of the best pairing; without steps its agent alone is asked."""
        if not pairs:
            return self.of_agent(position, "", steps or (), seconds=seconds, probability=0.0)
        best = pairs[0]
        return self.of_agent(
            position,
            best.agent,
            [[best.agent]] if steps is None else steps,
            seconds=seconds,
            probability=best.probability,
            ranked=tuple((one.agent, round(one.probability, 4)) for one in pairs[:_SHOWN]),
            scores={one.agent: one.probability for one in reversed(pairs)},
        )

    def _cost(self, one: LabelledQuestion, asked: Sequence[str]) -> float | None:
        """Return the price of the calls, by the cards where no price was recorded."""
        paid = (one.calls[name].price if name in one.calls else None for name in asked)
        prices = [
            self._prices.get(name) if price is None else price
            for name, price in zip(asked, paid, strict=True)
        ]
        known = [price for price in prices if price is not None]
        return sum(known) if known else None


def _wait(one: LabelledQuestion, steps: Steps) -> float | None:
    """Return the seconds that the steps took, each as long as its slowest agent."""
    if not one.calls:
        return None
    return sum(
        max((one.calls[name].seconds for name in step if name in one.calls), default=0.0)
        for step in steps
    )


def choose_by_chance(question: LabelledQuestion, agents: Sequence[str]) -> MethodChoice:
    """Choose any agent; `right` is the expectation."""
    return MethodChoice(agent="", right=len(question.gold & {*agents}) / len(agents), called=1)


def best_single(learned: Sequence[LabelledQuestion], agents: Sequence[str]) -> str:
    """Return the agent that is right most often; the first of equal ones."""
    counts = Counter(agent for one in learned for agent in one.gold)
    return max(agents, key=lambda agent: counts[agent])


def first_answer(question: LabelledQuestion, agents: Sequence[str]) -> str:
    """Return the first agent in order that has an answer."""
    given = [agent for agent in agents if question.answers.get(agent, "").strip()]
    return given[0] if given else agents[0]


def surest_answer(question: LabelledQuestion, agents: Sequence[str]) -> str:
    """Return the agent with the highest confidence, as an assistant without a selector does.

    The first of equal ones.
    """
    sure = {agent: question.calls[agent].confidence for agent in question.calls}
    given = [agent for agent in agents if agent in question.answers] or agents
    return max(given, key=lambda agent: sure.get(agent) or 0.0)


class SentenceBm25:
    """BM25 between a question and the sentences of cards; the best sentence of each card counts."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self._agents = [card.name for card in cards]
        self._index = Bm25((card.name, stems(text)) for card in cards for text in documents(card))

    def choose(self, question: UserQuestion) -> str:
        """Return the agent of the best sentence; the first agent, if no sentence matches."""
        best = dict.fromkeys(self._agents, 0.0)
        for agent, score in self._index.search(stems(question.text)):
            best[agent] = max(best[agent], score)
        return max(self._agents, key=best.__getitem__)


def nearest_answer(question: UserQuestion, answers: Sequence[AgentAnswer]) -> str:
    """Return the agent whose answer is most similar to the question by BM25 among the answers."""
    index = Bm25((one.agent, stems(one.text)) for one in answers)
    found = dict(index.search(stems(question.text)))
    return max((one.agent for one in answers), key=lambda agent: found.get(agent, 0.0))


class _RecordHead(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: the data, a hash of the data and of how they are dealt, and their number."""

    data: str
    key: str
    questions: int


class RecordedChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A line: the choice of a method for the question of a number, with all scores."""

    stage: PairingStage
    method: str
    question: int
    text: str
    gold: list[str]
    choice: MethodChoice


class ChoiceRecord:
    """Choices in a file of JSON lines; a method is added whole, when it has chosen for all.

    `BadInput` if the file is of other data, folds, seeds or models. A method that a crash cut off
    is measured again.
    """

    def __init__(self, path: Path, data: PairingData, dealt: object) -> None:
        self._path, self._test = path, data.test
        content = msgspec.json.encode((data, dealt), order="deterministic")
        key = blake2b(content, digest_size=16).hexdigest()
        self._head = _RecordHead(data=data.name, key=key, questions=len(data.test))
        self._found: dict[tuple[PairingStage, str], list[MethodChoice]] = {}
        if path.is_file() and path.stat().st_size:
            self._read()
        else:
            path.write_bytes(_line(self._head))

    def get(self, stage: PairingStage, method: str) -> list[MethodChoice] | None:
        """Return the choices of a method for all questions in order; None if it has none yet."""
        return self._found.get((stage, method))

    def add(self, stage: PairingStage, method: str, choices: Sequence[MethodChoice]) -> None:
        """Write the choices of a method, unless they are there."""
        if (stage, method) in self._found:
            return
        self._found[stage, method] = list(choices)
        with self._path.open("ab") as file:
            file.write(b"".join(self._lines(stage, method, choices)))

    def _lines(
        self, stage: PairingStage, method: str, choices: Sequence[MethodChoice]
    ) -> list[bytes]:
        return [
            _line(_record_choice(stage, method, n, self._test[n], choices[n]))
            for n in range(len(choices))
        ]

    def _read(self) -> None:
        head, *lines = self._path.read_bytes().split(b"\n")
        try:
            known = msgspec.json.decode(head, type=_RecordHead)
        except msgspec.MsgspecError as error:
            raise BadData(f"no record of choices: {error}", file=str(self._path), line=1) from None
        if known.key != self._head.key:
            what = f"{self._path} is of other data, folds, seeds or models; name another file"
            raise BadInput(what, field="choices")
        whole = [one for one in map(_choice, lines) if one is not None]
        for (stage, method), group in groupby(whole, key=lambda one: (one.stage, one.method)):
            choices = [one.choice for one in group]
            if len(choices) == len(self._test):
                self._found[stage, method] = choices
        kept = [
            line
            for (stage, method), choices in self._found.items()
            for line in self._lines(stage, method, choices)
        ]
        fresh = self._path.with_name(f".{self._path.name}-fresh")
        fresh.write_bytes(b"".join([_line(self._head), *kept]))
        fresh.replace(self._path)


def _record_choice(
    stage: PairingStage, method: str, number: int, one: LabelledQuestion, choice: MethodChoice
) -> RecordedChoice:
    return RecordedChoice(
        stage=stage,
        method=method,
        question=number,
        text=one.question.text,
        gold=sorted(one.gold),
        choice=choice,
    )


def _choice(line: bytes) -> RecordedChoice | None:
    """Return the choice on a line of the record; None if the line is cut off."""
    try:
        return msgspec.json.decode(line, type=RecordedChoice)
    except msgspec.MsgspecError:
        return None


def _line(said: msgspec.Struct) -> bytes:
    return msgspec.json.encode(said) + b"\n"
