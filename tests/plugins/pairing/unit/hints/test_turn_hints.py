"""Hints: what the words of a turn say of the answer before."""

from typing import Any

import pytest

from prolocutor.plugins.pairing.hints.hint_phrases import asks_again
from prolocutor.plugins.pairing.hints.turn_hints import HintSettings, HintTurn, TurnHint, find_hints
from tests.plugins.pairing.unit.hints.question_pairs import AGAIN, OTHER

TEA = "how long does green tea take?"
ANEW = "how long should I brew green tea"
ON = HintSettings()


def talk(*said: tuple[str, str] | tuple[str, str, dict[str, Any]]) -> list[HintTurn]:
    """Return turns ten seconds apart, each with what was said, the agent, and more."""
    turns = []
    for number, one in enumerate(said):
        text, agent, more = (*one, {})[:3]
        known = {"reply": f"{agent} says so.", "at": 10.0 * number, **more}
        turns.append(HintTurn(utt_id=f"u{number}", said=text, agent=agent, **known))
    return turns


def found(*said: Any, settings: HintSettings = ON) -> list[tuple[str, str, str]]:
    return [(one.kind, one.agent, one.utt_id) for one in find_hints(talk(*said), settings)]


def test_the_likeness_of_questions_is_as_it_was_measured() -> None:
    assert sum(asks_again(*pair) for pair in AGAIN) >= 18
    assert sum(asks_again(*pair) for pair in OTHER) <= 2


@pytest.mark.parametrize(
    ("now", "kind"),
    [
        (ANEW, "again"),
        (TEA, "again"),
        ("no, that is wrong", "rejected"),
        ("thanks!", "thanked"),
    ],
)
def test_words_hint_at_the_answer_before(now: str, kind: str) -> None:
    (hint,) = find_hints(talk((TEA, "tea"), (now, "eggs")), ON)
    assert hint == TurnHint(
        kind=kind,  # type: ignore[arg-type]
        agent="tea",
        question=TEA,
        utt_id="u0",
        weight=ON.weight(kind),  # type: ignore[arg-type]
        at=10.0,
    )
    assert hint.up == (kind == "thanked")


@pytest.mark.parametrize("now", ["ok", "and black tea?", "what is oolong", "yes", "no thanks"])
def test_other_words_hint_at_nothing(now: str) -> None:
    assert found((TEA, "tea"), (now, "tea")) == []


def test_the_answer_of_another_agent_that_is_let_stand_counts_for_it() -> None:
    asked = (TEA, "eggs"), (ANEW, "tea")
    assert found(*asked, ("my eggs are too soft", "eggs")) == [("kept", "tea", "u1")]
    assert found(*asked, ("thanks", "")) == [("thanked", "tea", "u1")]
    assert found(*asked, ("that is wrong", "")) == [("rejected", "tea", "u1")]
    assert found(*asked, (f"{TEA} please", "tea"))[0][0] == "again"
    assert found((TEA, "tea"), (ANEW, "tea"), ("my eggs are too soft", "eggs")) == []


def test_a_button_or_choice_that_is_used_counts_for_the_agent_that_offered_it() -> None:
    offered = {"offered": ("Green tea", "Black tea"), "asks": True}
    for used in ("Green tea", "black TEA ", "2", "number 1"):
        assert found((TEA, "tea", offered), (used, "tea")) == [("used", "tea", "u0")]
    assert found((TEA, "tea", offered), ("3", "tea")) == []


def test_the_agent_that_a_person_chooses_when_asked_counts_as_right() -> None:
    asks = {"offered": ("Tea", "Eggs"), "asks": True}
    assert found((TEA, "", asks), ("Tea", "tea")) == [("used", "tea", "u0")]


def test_a_client_that_says_what_is_asked_again_is_believed_at_any_time() -> None:
    late = {"again_of": "u0", "at": 9999.0}
    assert found((TEA, "tea"), ("and the black one", "tea", late)) == [("again", "tea", "u0")]
    assert found((TEA, "tea"), ("hi", "eggs"), (TEA, "tea", late)) == [("again", "tea", "u0")]


@pytest.mark.parametrize(
    "before",
    [
        (TEA, ""),
        ("thanks", "tea"),
        ("no", "tea"),
        (TEA, "tea", {"at": -500.0}),
    ],
)
def test_there_is_no_hint_without_an_agent_a_question_or_in_time(before: Any) -> None:
    assert found(before, ("no, that is wrong", "tea")) == []


def test_nobody_learns_a_follow_up_alone() -> None:
    assert found((TEA, "tea"), ("and black tea?", "tea"), ("thanks", "")) == []


def test_an_answer_to_an_agents_question_is_no_hint() -> None:
    asks = {"reply": "Which tea do you mean?"}
    assert found((TEA, "tea", asks), ("no", "tea")) == []
    assert found((TEA, "tea", asks), ("green tea, how long does it take", "tea")) == []


def test_a_kind_without_weight_is_not_taken() -> None:
    assert found((TEA, "tea"), ("thanks", ""), settings=HintSettings(thanked=0.0)) == []
