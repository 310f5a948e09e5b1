"""Recording: every agent is asked every question once, and what it answered is never lost."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.contracts.pairing import AgentCall, Card, UserQuestion
from prolocutor.errors import BadInput, Conflict, StoreLocked
from prolocutor.plugins.pairing.measuring.agent_asker import AgentReplies
from prolocutor.plugins.pairing.measuring.answer_record import AnswerRecord, cards_of_data
from prolocutor.plugins.pairing.measuring.answer_recording import record_answers
from prolocutor.plugins.pairing.measuring.pairing_data import load_pairing_data

AGENTS = {"ann": "1", "bob": "1"}
QUESTIONS = [UserQuestion(text=f"q{n}") for n in range(4)]


class Panel:
    """Answers what it is asked and notes it; it breaks at a question, and some agents fail."""

    def __init__(self, breaks_at: str = "", fails: Sequence[str] = ()) -> None:
        self.asked: list[tuple[str, str]] = []
        self._breaks_at, self._fails = breaks_at, fails

    async def ask(self, question: UserQuestion, agents: Sequence[str]) -> AgentReplies:
        if question.text == self._breaks_at:
            raise KeyError(question.text)
        self.asked += [(question.text, agent) for agent in agents]
        calls = {
            agent: AgentCall(seconds=0.5, error="it fell" if agent in self._fails else None)
            for agent in agents
        }
        good = [agent for agent in agents if agent not in self._fails]
        return AgentReplies({agent: f"{agent} on {question.text}" for agent in good}, calls)


def ask_all(
    folder: Path, panel: Panel, agents: dict[str, str] = AGENTS, **options: Any
) -> list[tuple[str, str]]:
    with AnswerRecord(folder, agents, "none") as record:
        asyncio.run(record_answers(panel, record, QUESTIONS, **options))
        parts = {"test": [{"text": one.text, "agents": ["ann"]} for one in QUESTIONS], "train": []}
        record.complete(parts, [Card(name=name) for name in agents])
    return panel.asked


def test_who_was_interrupted_asks_only_what_is_not_on_record(tmp_path: Path) -> None:
    first, second = Panel(breaks_at="q2"), Panel()
    with pytest.raises(KeyError):
        ask_all(tmp_path, first)

    ask_all(tmp_path, second)

    both = [(one.text, agent) for one in QUESTIONS for agent in AGENTS]
    assert first.asked + second.asked == both


def test_a_record_is_data_with_answers_calls_and_latency(tmp_path: Path) -> None:
    ask_all(tmp_path, Panel(fails=["bob"]))

    data = load_pairing_data(f"jsonl:{tmp_path}", cards_of_data(f"jsonl:{tmp_path}"))

    assert [(card.name, card.latency) for card in data.cards] == [("ann", 0.5), ("bob", None)]
    assert [one.gold for one in data.test] == [{"ann"}] * 4
    assert data.test[0].answers == {"ann": "ann on q0"}
    assert data.test[0].calls == {
        "ann": AgentCall(seconds=0.5),
        "bob": AgentCall(seconds=0.5, error="it fell"),
    }
    assert data.learn == []


def test_who_failed_is_asked_again_only_if_that_is_wanted(tmp_path: Path) -> None:
    ask_all(tmp_path, Panel(fails=["bob"]))

    assert ask_all(tmp_path, Panel()) == []
    assert ask_all(tmp_path, Panel(), retry_failed=True) == [(one.text, "bob") for one in QUESTIONS]
    answers = [one.answers for one in load_pairing_data(f"jsonl:{tmp_path}").test]
    assert answers[0] == {"ann": "ann on q0", "bob": "bob on q0"}


def test_who_fails_where_it_answered_before_has_no_answer(tmp_path: Path) -> None:
    with AnswerRecord(tmp_path, AGENTS, "none") as record:
        record.add(QUESTIONS[0], AgentReplies({"ann": "old"}, {"ann": AgentCall(seconds=1)}))
        record.add(QUESTIONS[0], AgentReplies({}, {"ann": AgentCall(seconds=2, error="late")}))
        found = record.answered("ann"), record.failed(QUESTIONS[0])

    assert found == (0, 1)


def test_a_new_agent_is_asked_without_the_others(tmp_path: Path) -> None:
    ask_all(tmp_path, Panel())

    asked = ask_all(tmp_path, Panel(), {**AGENTS, "eve": "1"})

    assert asked == [(one.text, "eve") for one in QUESTIONS]


def test_an_agent_that_left_is_left_out_and_comes_back_with_its_answers(tmp_path: Path) -> None:
    ask_all(tmp_path, Panel())

    assert ask_all(tmp_path, Panel(), {"ann": "1"}) == []
    assert load_pairing_data(f"jsonl:{tmp_path}").test[0].answers == {"ann": "ann on q0"}
    assert ask_all(tmp_path, Panel()) == []
    assert set(load_pairing_data(f"jsonl:{tmp_path}").test[0].answers) == {"ann", "bob"}


def test_an_agent_that_changed_is_not_mixed_up_with_what_it_was(tmp_path: Path) -> None:
    ask_all(tmp_path, Panel())

    with pytest.raises(Conflict, match=r"bob changed .* another folder with --record"):
        ask_all(tmp_path, Panel(), {"ann": "1", "bob": "2"})
    with pytest.raises(Conflict, match="what is asked before the agents changed"):
        AnswerRecord(tmp_path, AGENTS, "another")


def test_a_folder_with_other_things_or_another_owner_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all my work")
    with pytest.raises(BadInput, match="holds other things"):
        AnswerRecord(tmp_path, AGENTS, "none")

    with AnswerRecord(tmp_path / "mine", AGENTS, "none"), pytest.raises(StoreLocked):
        AnswerRecord(tmp_path / "mine", AGENTS, "none")


def test_one_question_with_another_past_is_another_question(tmp_path: Path) -> None:
    with AnswerRecord(tmp_path, AGENTS, "none") as record:
        record.add(
            QUESTIONS[0],
            AgentReplies({"ann": "a", "bob": "b"}, dict.fromkeys(AGENTS, AgentCall(seconds=1))),
        )

        later = msgspec.structs.replace(QUESTIONS[0], said_before="rain?")
        assert record.missing(QUESTIONS[0]) == []
        assert record.missing(later) == ["ann", "bob"]


def test_several_questions_are_asked_at_once(tmp_path: Path) -> None:
    most = running = 0

    class Together(Panel):
        async def ask(self, question: UserQuestion, agents: Sequence[str]) -> AgentReplies:
            nonlocal most, running
            running += 1
            most = max(most, running)
            for _ in range(3):
                await asyncio.sleep(0)
            running -= 1
            return await super().ask(question, agents)

    asked = ask_all(tmp_path, Together(), concurrency=3)

    assert most == 3
    assert len(asked) == len({*asked}) == 8


@settings(max_examples=40, deadline=None)
@given(cut=st.integers(1, 10_000))
def test_wherever_the_file_is_cut_off_no_whole_line_is_lost(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("record")
    ask_all(folder, Panel())
    file = folder / "asked.jsonl"
    whole = file.read_bytes()
    left = whole[: cut % (len(whole) + 1)]
    file.write_bytes(left)

    asked = ask_all(folder, Panel())

    assert len(asked) == 2 * (len(QUESTIONS) - left.count(b"\n"))
    assert file.read_bytes() == whole
