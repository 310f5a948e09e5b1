"""The record: what agents answered, in a folder, so that no agent is asked the same twice.

    asked.jsonl     a line for each question asked, appended as it is answered
    record.json     the agents that were asked, with a hash of each one's definition
    cards.json      the cards of the agents, with the latency that was measured
    test.jsonl      the questions with labels, answers and calls, as data; train.jsonl likewise

A line is never lost once it is written; a torn last line is cut off. The last two are written once
everything is asked, and again when the labels have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

import msgspec

from prolocutor.contracts.pairing import AgentCall, Card, UserQuestion
from prolocutor.data_sets import split, suffix_of
from prolocutor.dialog.ids import timestamp
from prolocutor.errors import BadInput, Conflict
from prolocutor.owned_folder import (
    check_new,
    owned,
    replacing,
    whole_lines,
    write_json,
)
from prolocutor.plugins.pairing.measuring.agent_asker import AgentReplies
from prolocutor.plugins.pairing.measuring.pairing_data import Message, question_of

ASKED: Final = "asked.jsonl"
RECORD: Final = "record.json"
CARDS: Final = "cards.json"
_OPTION: Final = "--record"
_ANSWERS: Final = ("answers", "responses", "calls")
_ANSWER: Final = "answer_"


class RecordDefinition(msgspec.Struct, kw_only=True):
    """The content of `record.json`: hashes of the agents by name, and of the annotators."""

    format: int = 1
    agents: dict[str, str]
    annotators: str
    started: str = ""


class RecordedQuestion(msgspec.Struct, frozen=True):
    """A line of `asked.jsonl`: of several for one question, the last of an agent counts."""

    question: UserQuestion
    answers: dict[str, str]
    calls: dict[str, AgentCall]


class AnswerRecord:
    """The folder of a record, owned by this process alone while it is open.

    `agents` are hashes of the agents' definitions, `annotators` that of what runs before them. New
    agents may come; raise `Conflict` where an agent changed since it was asked.
    """

    def __init__(self, path: Path, agents: Mapping[str, str], annotators: str) -> None:
        self.path = path
        with ExitStack() as stack:
            stack.enter_context(owned(path, option=_OPTION))
            _define(path, agents, annotators)
            self._known = _read(path / ASKED)
            self._file = stack.enter_context((path / ASKED).open("ab"))
            self._open = stack.pop_all()
        self.agents = list(agents)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def missing(self, question: UserQuestion, *, retry_failed: bool = False) -> list[str]:
        """Return the agents that were not asked a question yet, or failed, if these may retry."""
        calls = self._calls(question)
        return [
            name
            for name in self.agents
            if name not in calls or (retry_failed and calls[name].error is not None)
        ]

    def add(self, question: UserQuestion, replies: AgentReplies) -> None:
        """Append answers; from then on they survive the end of this process."""
        line = msgspec.json.encode(RecordedQuestion(question, replies.answers, replies.calls))
        self._file.write(line + b"\n")
        self._file.flush()
        _merge(self._known, RecordedQuestion(question, replies.answers, replies.calls))

    def failed(self, question: UserQuestion) -> int:
        """Count the agents that failed at a question."""
        calls = self._calls(question)
        return sum(calls[name].error is not None for name in self.agents if name in calls)

    def calls(self, agent: str) -> list[AgentCall]:
        """Return all calls of an agent, one a question."""
        return [one.calls[agent] for one in self._known.values() if agent in one.calls]

    def answered(self, agent: str) -> int:
        """Count the questions that an agent has an answer to."""
        return sum(agent in one.answers for one in self._known.values())

    def complete(self, parts: Mapping[str, Sequence[Message]], cards: Iterable[Card]) -> None:
        """Write the questions, each part to a file of its own, and the cards."""
        for name, messages in parts.items():
            file = self.path / f"{name}.jsonl"
            if not messages:
                file.unlink(missing_ok=True)
                continue
            with replacing(file) as out:
                for message in messages:
                    out.write(msgspec.json.encode(self._present_answers(message)) + b"\n")
        write_json(self.path / CARDS, [self._measure_card(card) for card in cards])

    def _present_answers(self, message: Message) -> dict[str, Any]:
        """Return a message with the recorded answers of the present agents and no others."""
        bare = {
            name: value
            for name, value in message.items()
            if name not in _ANSWERS and not name.startswith(_ANSWER)
        }
        found = self._known[question_of(message)]
        return {
            **bare,
            "answers": {name: found.answers[name] for name in self.agents if name in found.answers},
            "calls": {name: found.calls[name] for name in self.agents if name in found.calls},
        }

    def _measure_card(self, card: Card) -> Card:
        seconds = [call.seconds for call in self.calls(card.name) if call.error is None]
        if card.latency is not None or not seconds:
            return card
        return msgspec.structs.replace(card, latency=round(median(seconds), 6))

    def _calls(self, question: UserQuestion) -> Mapping[str, AgentCall]:
        found = self._known.get(question)
        return found.calls if found is not None else {}


def cards_of_data(data: str, file: Path | None = None) -> list[Card]:
    """Return the cards of a file, else those that lie beside data `KIND:PATH` in its folder."""
    if file is not None:
        return read_cards(file)
    kind, path = split(data)
    beside = Path(path, CARDS)
    return read_cards(beside) if suffix_of(kind) is not None and beside.is_file() else []


def read_cards(file: Path) -> list[Card]:
    """Read a JSON list of cards; raise `BadInput` for another content."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[Card])
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}", field="cards") from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{file}: {error}", field="cards") from None


def _define(path: Path, agents: Mapping[str, str], annotators: str) -> None:
    """Write down what is asked; raise `Conflict` for an agent that was asked before and changed."""
    file = path / RECORD
    if not file.exists():
        check_new(path, option=_OPTION)
        before = RecordDefinition(agents={}, annotators=annotators, started=timestamp())
    else:
        try:
            before = msgspec.json.decode(file.read_bytes(), type=RecordDefinition)
        except msgspec.MsgspecError as error:
            raise BadInput(f"{file}: this is no record ({error})") from None
    changed = [name for name, its in before.agents.items() if agents.get(name, its) != its]
    if before.annotators != annotators:
        changed.append("what is asked before the agents")
    if changed:
        raise Conflict(
            f"{path}: {', '.join(changed)} changed since it was asked; "
            f"choose another folder with {_OPTION}"
        )
    if not before.agents.keys() >= agents.keys():
        write_json(file, msgspec.structs.replace(before, agents={**before.agents, **agents}))


def _read(file: Path) -> dict[UserQuestion, RecordedQuestion]:
    """Read what was asked, and cut a torn last line."""
    known: dict[UserQuestion, RecordedQuestion] = {}
    decoder = msgspec.json.Decoder(RecordedQuestion)
    for number, _, line in whole_lines(file, cut=True):
        try:
            _merge(known, decoder.decode(line))
        except msgspec.MsgspecError as error:
            raise BadInput(f"{file}:{number}: this is no line of a record ({error})") from None
    return known


def _merge(known: dict[UserQuestion, RecordedQuestion], new: RecordedQuestion) -> None:
    """Add a line; the answer of an agent that was asked again goes with its call."""
    before = known.get(new.question)
    if before is not None:
        kept = {name: text for name, text in before.answers.items() if name not in new.calls}
        new = RecordedQuestion(new.question, kept | new.answers, before.calls | new.calls)
    known[new.question] = new
