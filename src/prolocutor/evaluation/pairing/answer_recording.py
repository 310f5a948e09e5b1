"""Recording: the agents are asked what is not on record yet, several questions at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from prolocutor.contracts.pairing import Question
from prolocutor.evaluation.pairing.agent_asker import AgentReplies
from prolocutor.evaluation.pairing.answer_record import AnswerRecord


class Asks(Protocol):
    """Whoever can ask agents."""

    async def ask(self, question: Question, agents: Sequence[str]) -> AgentReplies:
        """Return what these agents answer, and how it went to ask each."""


async def record_answers(
    asker: Asks,
    record: AnswerRecord,
    questions: Iterable[Question],
    *,
    concurrency: int = 1,
    retry_failed: bool = False,
    told: Callable[[int], None] = lambda failed: None,
) -> None:
    """Ask every agent every question once; `told` hears of each how many agents failed at it.

    A question is on record when all agents have answered it, or failed to. Whoever is interrupted
    within one asks it again.
    """
    left = iter(dict.fromkeys(questions))

    async def work(left: Iterator[Question]) -> None:
        for question in left:
            if agents := record.missing(question, retry_failed=retry_failed):
                record.add(question, await asker.ask(question, agents))
            told(record.failed(question))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work(left))
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
