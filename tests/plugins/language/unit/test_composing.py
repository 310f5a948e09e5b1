from typing import Any

import pytest

from prolocutor.plugins.language.together.composing import choose


def said(skill: str, text: str, confidence: float, part: int = 0, **more: Any) -> dict[str, Any]:
    id_ = f"{skill}.{part}"
    hypothesis = {"skill_name": skill, "text": text, "confidence": confidence, "part": part}
    return {**hypothesis, "hypothesis_id": id_, **more}


def chosen(*hypotheses: dict[str, Any]) -> tuple[list[str], str]:
    choice = choose({"hypotheses": list(hypotheses)})
    return choice["hypotheses"], choice["text"]


def test_a_single_request_gets_the_surest_answer() -> None:
    assert chosen(said("sums", "no", 0.05), said("clock", "Noon.", 0.9)) == (["clock.0"], "Noon.")


def test_ties_go_to_the_first_declared() -> None:
    assert chosen(said("a", "A.", 0.9), said("b", "B.", 0.9))[0] == ["a.0"]


def test_two_requests_get_one_reply_from_two_agents() -> None:
    ids, text = chosen(
        said("sums", "12", 0.82),
        said("sums", "12", 0.97, 1),
        said("sums", "no", 0.05, 2),
        said("clock", "It is noon.", 0.82),
        said("clock", "no", 0.05, 1),
        said("clock", "It is noon.", 0.97, 2),
    )

    assert ids == ["sums.1", "clock.2"]
    assert text == "12. It is noon."


def test_the_order_of_the_clauses_is_kept_whatever_the_order_of_the_agents() -> None:
    ids, text = chosen(
        said("clock", "no", 0.05, 1),
        said("clock", "Noon!", 0.9, 2),
        said("sums", "12.", 0.9, 1),
        said("sums", "no", 0.05, 2),
    )

    assert ids == ["sums.1", "clock.2"]
    assert text == "12. Noon!"


def test_an_agent_that_answers_the_whole_better_has_the_floor() -> None:
    ids, _ = chosen(
        said("todo", "Noted: call and tell her.", 0.95),
        said("todo", "Noted: call.", 0.95, 1),
        said("jokes", "A duck...", 0.8, 2),
    )

    assert ids == ["todo.0"]


def test_an_agent_hardly_surer_of_the_whole_leaves_no_clause_unanswered() -> None:
    ids, _ = chosen(
        said("timer", "Set.", 0.96), said("timer", "Set.", 0.96, 1), said("todo", "Noted.", 0.95, 2)
    )

    assert ids == ["timer.1", "todo.2"]


def test_a_clause_that_nobody_knows_is_named() -> None:
    hypotheses = [
        said("sums", "12", 0.97),
        said("sums", "12", 0.97, 1),
        said("sums", "no", 0.05, 2),
    ]
    words = [{"text": "what is 3 * 4, and what is the weather like?"}]

    choice = choose({"hypotheses": hypotheses, "human_utterances": words})

    assert choice["text"] == "12. I have no answer to: “what is the weather like”."


def test_an_answer_to_the_whole_that_says_more_than_one_to_a_clause_stays() -> None:
    ids, text = chosen(
        said("todo", "Noted: call and sing.", 0.95),
        said("todo", "Noted: call.", 0.95, 1),
        said("todo", "no", 0.05, 2),
    )

    assert ids == ["todo.0"]
    assert text == "Noted: call and sing."


def test_what_would_undo_an_earlier_answer_has_to_be_asked_for_again() -> None:
    attributes = {"human_attributes": {"jokes": [1]}}
    ids, text = chosen(
        said("jokes", "A duck.", 0.9, 0, **attributes),
        said("jokes", "A duck.", 0.9, 1, **attributes),
        said("jokes", "A hen.", 0.9, 2, **attributes),
    )

    assert ids == ["jokes.1"]
    assert "ask again" in text


def test_what_somebody_knows_of_it_is_said_where_nobody_knows_the_whole() -> None:
    ids, _ = chosen(
        said("jokes", "no", 0.05),
        said("guide", "Ask me otherwise.", 0.2),
        said("jokes", "A duck...", 0.97, 1),
        said("jokes", "no", 0.05, 2),
    )

    assert ids == ["jokes.1"]


def test_the_same_answer_to_both_clauses_is_given_once() -> None:
    ids, text = chosen(
        said("sums", "no", 0.05), said("sums", "12", 0.9, 1), said("sums", "12", 0.9, 2)
    )

    assert len(ids) == 2
    assert text == "12."


@pytest.mark.parametrize("profile", ["human_attributes", "bot_attributes"])
def test_answers_that_would_undo_each_other_are_not_composed(profile: str) -> None:
    ids, _ = chosen(
        said("todo", "Both noted.", 0.7, **{profile: {"todo": [1, 2]}}),
        said("todo", "One noted.", 0.9, 1, **{profile: {"todo": [1]}}),
        said("todo", "Two noted.", 0.9, 2, **{profile: {"todo": [2]}}),
    )

    assert ids == ["todo.0"]


def test_where_nobody_knows_the_guide_beats_all_refusals() -> None:
    assert chosen(said("sums", "no", 0.1), said("guide", "Ask me otherwise.", 0.2))[0] == [
        "guide.0"
    ]


@pytest.mark.parametrize(
    ("sure", "alone", "meant", "speaks"),
    [(0.9, 0.96, 0.9, "clock.1"), (0.6, 0.96, 0.9, "countries.0"), (0.6, 0.9, 0.95, "clock.1"),
     (0.9, 0.8, 0.2, "countries.0"), (0.9, 0.1, 0.2, "clock.1")],
)  # fmt: skip
def test_an_answer_to_what_a_follow_up_means_goes_first_where_that_is_clear(
    sure: float, alone: float, meant: float, speaks: str
) -> None:
    words = {
        "text": "and Paris?",
        "annotations": {"follow_up": {"text": "time?", "confidence": sure}},
    }
    answers = [
        said("clock", "no", 0.05, 0),
        {**said("clock", "1 pm", meant, 1), "hypothesis_id": "clock.1"},
        said("countries", "The capital.", alone, 0),
        {**said("countries", "no", 0.05, 1), "hypothesis_id": "countries.1"},
    ]

    choice = choose({"hypotheses": answers, "human_utterances": [words]})

    assert choice["hypotheses"] == [speaks]


def test_an_order_is_not_repeated_where_the_words_alone_are_answered_without_it() -> None:
    order = {"text": "set a timer", "of": "set a timer", "confidence": 0.9}
    words = {"text": "any timers?", "annotations": {"follow_up": order}}
    answers = [
        said("timer", "One timer.", 0.9, 0),
        said("timer", "Timer set.", 0.95, 1, human_attributes={"timers": []}),
    ]

    choice = choose({"hypotheses": answers, "human_utterances": [words]})

    assert choice["text"] == "One timer."


def test_the_end_of_a_name_is_no_question_of_its_own() -> None:
    words = {"text": "what is the capital of Trinidad and Tobago"}
    answers = [
        said("lands", "Port of Spain.", 0.97, 0),
        said("lands", "Port of Spain.", 0.97, 1),
        said("lands", "no", 0.05, 2),
    ]

    choice = choose({"hypotheses": answers, "human_utterances": [words]})

    assert choice["text"] == "Port of Spain."
