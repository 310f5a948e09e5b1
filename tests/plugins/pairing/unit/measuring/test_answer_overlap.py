"""Overlap: who answers the same things, who never wins, what nobody answers."""

from prolocutor.contracts.pairing import LabelledQuestion, UserQuestion
from prolocutor.plugins.pairing.measuring.answer_overlap import (
    AnsweredQuestion,
    AnswerOverlap,
    compare_agents,
)


def heard(
    text: str, right: str = "", *, spoke: str | None = None, answers: str = "abc"
) -> AnsweredQuestion:
    labelled = LabelledQuestion(
        question=UserQuestion(text=text),
        agents=dict.fromkeys(right, 1.0),
        gold=frozenset(right),
        answers={name: f"{name} says {text}" for name in answers},
    )
    return AnsweredQuestion(labelled, spoke)


def unlabelled(text: str, **answers: str) -> AnsweredQuestion:
    question = UserQuestion(text=text)
    return AnsweredQuestion(
        LabelledQuestion(question=question, agents={}, answers=answers, weight=0.0), "x"
    )


def hints(found: AnswerOverlap) -> str:
    return "\n".join(found.hints)


def test_each_agent_is_counted() -> None:
    found = compare_agents([heard("one", "ab", spoke="a"), heard("two", "a", spoke="c")])

    (first, second, third) = found.agents
    assert first.agent == "a"
    assert first.asked == 2
    assert first.well == 2
    assert first.alone == 1
    assert first.won == 1
    assert second.agent == "c"
    assert second.well == 0
    assert second.won == 1
    assert third.agent == "b"
    assert third.well == 1
    assert third.alone == 0
    assert third.won == 0


def test_where_nobody_knows_who_spoke_being_right_is_winning() -> None:
    found = compare_agents([heard("one", "ab"), heard("two", "b")])

    assert [(one.agent, one.won) for one in found.agents] == [("b", 2), ("a", 1), ("c", 0)]


def test_agents_that_answer_the_same_things_are_paired_the_most_alike_first() -> None:
    right = ["ab"] * 4 + ["a", "ac", "c", "c"]
    found = compare_agents([heard(f"question {n}", names) for n, names in enumerate(right)])

    first, second = found.pairs
    assert first.smaller == "b"
    assert first.larger == "a"
    assert first.both == 4
    assert first.alike == 4 / 6
    assert first.covered == 1.0
    assert second.smaller == "c"
    assert second.larger == "a"
    assert second.alike == 1 / 8


def test_a_label_that_names_nobody_says_so_only_among_labels() -> None:
    question = "what is the capital of Peru"
    right = heard(question, answers="a")

    assert compare_agents([right, heard("one", "a")]).nobody == 1
    assert compare_agents([right]).labelled == 0


def test_what_nobody_answers_is_grouped_with_its_like() -> None:
    texts = ["book me a table for two please", "Book me a table, for two please!", "sing"]
    found = compare_agents([heard(text) for text in texts] + [heard("fine", "a")])

    assert found.nobody == 3
    assert [(one.text, one.times) for one in found.unanswered] == [(texts[0], 2), ("sing", 1)]


def test_without_labels_refusals_are_no_good_answers() -> None:
    found = compare_agents(
        [
            unlabelled(
                f"what is the capital of {name}",
                atlas=f"The capital of {name} is {name} City.",
                shrug="Sorry, I don't know that.",
            )
            for name in ("Peru", "Chile", "Cuba")
        ]
    )

    assert found.labelled == 0
    assert {one.agent: one.well for one in found.agents} == {"atlas": 3, "shrug": 0}


def test_hints_tell_what_could_be_done() -> None:
    right = ["ab"] * 10 + ["a"] * 2 + [""] * 8
    found = compare_agents([heard(f"question {n}", names) for n, names in enumerate(right)], ["d"])

    assert "d was never asked" in hints(found)
    assert "c never wins: no answer of it looks good" in hints(found)
    assert "b answers little that a does not (100 % of its 10)" in hints(found)
    assert "40 % of the questions have no good answer" in hints(found)


def test_few_questions_give_no_advice() -> None:
    assert compare_agents([heard("one", "a")]).hints == [
        "1 questions tell little; ask again after some more"
    ]


def test_nothing_heard_is_no_fault() -> None:
    found = compare_agents([], ["a"])

    assert found.questions == 0
    assert found.pairs == []
    assert found.unanswered == []
