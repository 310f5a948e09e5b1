"""Asking the agents of an assistant for `prolocutor evaluate pairing --record`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from importlib import import_module
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from prolocutor.assistant.runner import run
from prolocutor.cli.evaluation_tables import clean
from prolocutor.config.agent_cards import cards_of
from prolocutor.config.assistant_file import load_assistant
from prolocutor.config.building import assistant_from
from prolocutor.config.settings import Settings
from prolocutor.contracts.pairing import Card, Question
from prolocutor.errors import BadInput
from prolocutor.evaluation.content_hash import content_of, module_file
from prolocutor.evaluation.pairing.agent_asker import (
    AgentAsker,
    AskedAgents,
    check_question,
    pipeline_to_ask,
    seconds_to_ask,
)
from prolocutor.evaluation.pairing.answer_record import AnswerRecord
from prolocutor.evaluation.pairing.answer_recording import record_answers
from prolocutor.evaluation.pairing.pairing_data import Message, messages_of, question_of
from prolocutor.parlai.catalog import split
from prolocutor.pipeline.plan import Service

_STORE: Final = "store"
_PARTS: Final = ("train", "test")
_SHOWN: Final = 3
_LONGEST: Final = 100


class RecordedAgents:
    """The agents of an assistant's file."""

    def __init__(self, file: Path) -> None:
        self._settings = load_assistant(file)
        self.cards: list[Card] = cards_of(self._settings.pipeline.skills, self._settings.folder)

    def record(self, data: str, folder: Path, *, concurrency: int, retry_failed: bool) -> list[str]:
        """Ask them all that is not on record yet, and complete it; give lines that tell of it."""
        settings = self._settings
        parts = _parts_of(data)
        questions = [question_of(one) for one in chain(*parts.values())]
        for question in questions:
            check_question(question)
        skills, annotators = settings.pipeline.skills, settings.pipeline.annotators
        hashes = {skill.name: _hash([skill], settings) for skill in skills}
        with AnswerRecord(folder, hashes, _hash(annotators, settings)) as record:
            asked = [one for one in questions if record.missing(one, retry_failed=retry_failed)]
            if asked:
                with _progress(len({*questions}), settings.name) as told:
                    run(self._ask(record, questions, concurrency, retry_failed, told))
            record.complete(parts, self.cards)
            number = f"{len({*asked}):,} of {len({*questions}):,} questions"
            lines = [f"{settings.name}: {number} asked, on record in {folder}", *_lines(record)]
            if any(map(record.failed, questions)):
                lines.append("--retry-failed asks again where agents failed")
            return lines

    async def _ask(
        self,
        record: AnswerRecord,
        questions: Sequence[Question],
        concurrency: int,
        retry_failed: bool,
        told: Callable[[int], None],
    ) -> None:
        wanted, pipeline = AskedAgents(), self._settings.pipeline
        settings = msgspec.structs.replace(
            self._settings,
            pipeline=pipeline_to_ask(pipeline, wanted),
            deadline=seconds_to_ask(pipeline),
            reserve=None,
        )
        prices = {card.name: card.price for card in self.cards}
        async with assistant_from(settings, store="memory:") as assistant:
            await record_answers(
                AgentAsker(assistant, wanted, prices),
                record,
                questions,
                concurrency=concurrency,
                retry_failed=retry_failed,
                told=told,
            )


def _parts_of(data: str) -> dict[str, list[Message]]:
    kind, _ = split(data)
    if kind == _STORE:
        what = "a store holds the answers already; leave out --record"
        raise BadInput(f"{data}: {what}", field="data")
    return dict(zip(_PARTS, messages_of(data), strict=True))


def _hash(services: Sequence[Service], settings: Settings) -> str:
    """Return a hash over what services are and the modules beside the file that they name.

    Cards and icons are no part of it, as they change nothing of what is answered.
    """
    bare = [msgspec.structs.replace(one, card=None, icon=None) for one in services]
    named = [one.target for one in services if isinstance(one.target, str)]
    files = {file for target in named if (file := module_file(target, settings.folder))}
    words = f"{bare!r} {content_of(sorted(files))}"
    return blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


@contextmanager
def _progress(number: int, what: str) -> Iterator[Callable[[int], None]]:
    """Show on a terminal's stderr how many questions are done and how many calls failed."""
    if not sys.stderr.isatty():
        yield lambda failed: None
        return
    with import_module("prolocutor.cli.progress_bar").bar(number, what) as show:
        done = failures = 0

        def told(failed: int) -> None:
            nonlocal done, failures
            done, failures = done + 1, failures + failed
            show(done, [f"{failures:,} failed"] if failures else [])

        yield told


def _lines(record: AnswerRecord) -> Iterator[str]:
    """Tell of each agent how often it answered and failed, how long it took, what it cost."""
    width = max(len("agent"), *(len(clean(name)) for name in record.agents))
    head = "".join(f"  {name:>8}" for name in ("answers", "nothing", "failed", "median s"))
    yield f"{'agent':<{width}}{head}  cost"
    for name in record.agents:
        calls = record.calls(name)
        failed = Counter(call.error for call in calls if call.error is not None)
        answers, failures = record.answered(name), failed.total()
        seconds = [call.seconds for call in calls if call.error is None]
        taken = f"{median(seconds):.3f}" if seconds else "-"
        paid = [call.price for call in calls if call.price is not None]
        cost = f"{sum(paid):.4g}" if paid else "-"
        nothing = len(calls) - answers - failures
        yield (
            f"{clean(name):<{width}}  {answers:8,}  {nothing:8,}  {failures:8,}  {taken:>8}  {cost}"
        )
        for what, times in failed.most_common(_SHOWN):
            yield f"  failed {times:,} x: {clean(str(what), _LONGEST)}"
