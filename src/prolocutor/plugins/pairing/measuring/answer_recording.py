"""Recording: the agents of an assistant are asked every question that has no answer on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Protocol

import msgspec

from prolocutor.config.agent_cards import cards_of
from prolocutor.config.building import assistant_from
from prolocutor.config.loading import load_assistant
from prolocutor.config.settings import Settings
from prolocutor.content_hash import content_of, module_file
from prolocutor.contracts.pairing import Card, UserQuestion
from prolocutor.data_sets import split
from prolocutor.errors import BadInput
from prolocutor.plan.pipeline import Stage, StageService
from prolocutor.plugins.pairing.measuring.agent_asker import (
    AgentAsker,
    AgentReplies,
    AskedAgents,
    check_question,
    pipeline_to_ask,
    seconds_to_ask,
)
from prolocutor.plugins.pairing.measuring.answer_record import AnswerRecord
from prolocutor.plugins.pairing.measuring.pairing_data import STORE, messages_of, question_of


class QuestionAsker(Protocol):
    """What can ask agents."""

    async def ask(self, question: UserQuestion, agents: Sequence[str]) -> AgentReplies:
        """Return what these agents answer, and the call of each."""


class RecordedAgents:
    """The agents of an assistant's file, to be asked for a record."""

    def __init__(self, file: Path) -> None:
        self._settings = load_assistant(file)
        self.name = self._settings.name
        self.cards: list[Card] = cards_of(
            self._settings.pipeline.of(Stage.SKILL), self._settings.folder
        )

    def open(self, folder: Path) -> AnswerRecord:
        """Open the record in a folder; raise `Conflict` if an agent is no longer what it was."""
        pipeline = self._settings.pipeline
        hashes = {skill.name: _hash([skill], self._settings) for skill in pipeline.of(Stage.SKILL)}
        return AnswerRecord(folder, hashes, _hash(pipeline.of(Stage.ANNOTATOR), self._settings))

    async def ask(
        self,
        record: AnswerRecord,
        questions: Iterable[UserQuestion],
        *,
        concurrency: int = 1,
        retry_failed: bool = False,
        on_question: Callable[[int], None] = lambda failed: None,
    ) -> None:
        """Ask what is not on record; see `record_answers`."""
        agents, pipeline = AskedAgents(), self._settings.pipeline
        settings = msgspec.structs.replace(
            self._settings,
            pipeline=pipeline_to_ask(pipeline, agents),
            deadline=seconds_to_ask(pipeline),
            reserve=None,
        )
        prices = {card.name: card.price for card in self.cards}
        async with assistant_from(settings, store="memory:", recording=False) as assistant:
            await record_answers(
                AgentAsker(assistant, agents, prices),
                record,
                questions,
                concurrency=concurrency,
                retry_failed=retry_failed,
                on_question=on_question,
            )


class QuestionSet:
    """The questions of some data, with their messages by the part that they are in."""

    def __init__(self, data: str) -> None:
        if split(data)[0] == STORE:
            what = "a store holds the answers already; leave out --record"
            raise BadInput(f"{data}: {what}", field="data")
        self.parts = dict(zip(("train", "test"), messages_of(data), strict=True))
        self.questions = [question_of(one) for one in chain(*self.parts.values())]
        for question in self.questions:
            check_question(question)


async def record_answers(
    asker: QuestionAsker,
    record: AnswerRecord,
    questions: Iterable[UserQuestion],
    *,
    concurrency: int = 1,
    retry_failed: bool = False,
    on_question: Callable[[int], None] = lambda failed: None,
) -> None:
    """Ask every agent every question once; `on_question` is called with how many failed at each.

    A question is on record when all agents have answered it, or failed to. One that is interrupted
    is asked again.
    """
    left = iter(dict.fromkeys(questions))

    async def work() -> None:
        for question in left:
            if agents := record.missing(question, retry_failed=retry_failed):
                record.add(question, await asker.ask(question, agents))
            on_question(record.failed(question))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None


def _hash(services: Sequence[StageService], settings: Settings) -> str:
    """Return a hash over what services are and the modules beside the file that they name.

    Cards and icons are no part of it, as they change nothing of what is answered.
    """
    bare = [
        msgspec.structs.replace(one, card=None, **({"icon": None} if hasattr(one, "icon") else {}))
        for one in services
    ]
    named = [one.call.target for one in services]
    files = {
        file
        for target in named
        if isinstance(target, str) and (file := module_file(target, settings.folder))
    }
    words = f"{bare!r} {content_of(sorted(files))}"
    return blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()
