"""The log of what agents answered."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.contracts.pairing import LabelledQuestion, UserQuestion
from prolocutor.plugins.pairing import agent_log
from prolocutor.plugins.pairing.agent_log import AgentLog, LogCounts, build_agent_log

SAID = [
    ("bank", "Your balance is 20 dollars."),
    ("bank", "Your balance is 31 dollars."),
    ("bank", "Say that again?"),
    ("bank", "Say that again?"),
    ("news", "Say that again?"),
]


def test_what_is_said_again_and_again_counts_more() -> None:
    said = AgentLog(SAID)
    assert said.repeats("bank", "Say that again?").verbatim > 0
    assert said.repeats("bank", "Something new").verbatim == 0


def test_case_and_blanks_make_no_difference() -> None:
    said = AgentLog(SAID)
    assert said.repeats("bank", " say  that AGAIN? ") == said.repeats("bank", "Say that again?")


def test_the_same_but_for_its_numbers_is_a_repetition_of_shape() -> None:
    found = AgentLog(SAID).repeats("bank", "Your balance is 77 dollars.")
    assert found.verbatim == 0
    assert found.shape > 0


def test_the_same_first_words_are_a_repetition_of_the_opening() -> None:
    found = AgentLog(SAID).repeats("bank", "Your balance is lower than ever")
    assert found.shape == 0
    assert found.opening > 0


def test_an_answer_in_the_log_is_no_repetition_of_itself() -> None:
    assert AgentLog(SAID).repeats("bank", "Your balance is 20 dollars.", own=1).verbatim == 0


def test_what_others_say_is_told_apart() -> None:
    said = AgentLog(SAID)
    assert said.repeats("news", "Say that again?", own=1).others > 0
    assert said.repeats("news", "Your balance is 20 dollars.").verbatim == 0


def test_an_agent_that_repeats_itself_has_less_variety() -> None:
    said = AgentLog([*(("a", f"answer {n}") for n in range(9)), *[("b", "what?")] * 9])
    assert said.variety("a") > said.variety("b") > said.variety("unknown") == 0


def test_common_words_tell_less() -> None:
    said = AgentLog(SAID)
    assert said.idf("balanc") < said.idf("giraffe") == 1


def test_a_log_is_made_of_questions_without_their_labels() -> None:
    asked = LabelledQuestion(
        question=UserQuestion(text="my money"), agents={}, answers={"bank": "20 dollars"}
    )
    said = build_agent_log([asked])
    assert len(said) == 1
    assert said.idf("money") < 1


def test_tables_are_bounded_and_keep_what_is_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_log, "_MOST_ANSWERS", 50)
    often = [("bank", "Say that again?")] * 5
    said = AgentLog([*often, *(("bank", f"one {n} of many") for n in range(500))])
    assert len(said.counts().verbatim) <= 50
    assert said.repeats("bank", "Say that again?").verbatim > 0


def test_no_text_that_was_said_is_kept() -> None:
    kept = msgspec.json.encode(AgentLog([("bank", "the secret is 4711")]).counts())
    assert b"4711" not in kept
    assert b"secret" not in kept


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=20)), max_size=20))
def test_a_log_comes_back_from_its_tables(said: list[tuple[str, str]]) -> None:
    made = AgentLog(said)
    kept = msgspec.json.decode(msgspec.json.encode(made.counts()), type=LogCounts)
    again = AgentLog.from_counts(kept)
    assert again.counts() == made.counts()
    assert all(again.repeats(*one) == made.repeats(*one) for one in said)
