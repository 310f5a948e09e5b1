"""The baseline agents say what ParlAI's say."""

from typing import Any

import pytest

from prolocutor.plugins.evaluation.parlai.agents import (
    AGENTS,
    IrBaselineAgent,
    RandomCandidateAgent,
    RepeatLabelAgent,
    ranked_by_words,
)

CANDIDATES = ["it is a cat", "the tallest mountain is high", "no"]
QUESTION = {"text": "What is the tallest mountain?", "label_candidates": CANDIDATES}


def said(agent: Any, observation: dict[str, Any]) -> Any:
    agent.observe(observation)
    return agent.act()["text"]


@pytest.mark.parametrize(
    ("name", "options", "observation", "text"),
    [
        ("repeat_label", {}, {"text": "a", "labels": ["x"]}, "x"),
        ("repeat_label", {}, {"text": "a", "eval_labels": ("x",)}, "x"),
        ("repeat_label", {"return_one_random_answer": False}, {"labels": ["x", "y"]}, "x, y"),
        ("repeat_label", {}, {"text": "a"}, "I don't know."),
        ("repeat_label", {"cant_answer_percent": 1}, {"labels": ["x"]}, "I don't know."),
        ("repeat_query", {}, {"text": "a"}, "a"),
        ("repeat_query", {}, {}, "Nothing to repeat yet."),
        ("fixed_response", {}, {"text": "a"}, "I don't know."),
        ("fixed_response", {"fixed_response": "so"}, {"text": "a"}, "so"),
        ("random_candidate", {}, {"text": "a"}, "I don't know."),
        ("ir_baseline", {}, {"text": "a"}, "I don't know."),
        ("ir_baseline", {}, QUESTION, "the tallest mountain is high"),
    ],
)
def test_what_a_baseline_says(
    name: str, options: dict[str, Any], observation: dict[str, Any], text: str
) -> None:
    assert said(AGENTS[name](options), observation) == text


def test_nothing_was_observed_yet() -> None:
    assert RepeatLabelAgent().act()["text"] == "Nothing to repeat yet."


def test_chance_begins_anew_with_a_seed() -> None:
    agent = RandomCandidateAgent({"seed": 1})
    agent.observe({"label_candidates": [str(n) for n in range(20)]})
    first = agent.act()["text_candidates"]
    agent.seed(1)

    assert agent.act()["text_candidates"] == first
    assert sorted(first, key=int) == [str(n) for n in range(20)]


def test_what_was_said_before_counts_where_it_is_asked_for() -> None:
    agent = IrBaselineAgent({"history_size": 2})
    agent.observe({"text": "a cat?"})
    agent.observe({"text": "yes", "label_candidates": CANDIDATES})
    assert agent.act()["text"] == "it is a cat"
    agent.reset()

    agent.observe({"text": "yes", "label_candidates": CANDIDATES})
    assert agent.act()["text_candidates"] == CANDIDATES


def test_rare_words_count_more_than_common_ones() -> None:
    candidates = ["one apple", "one pear", "one plum", "two cherries"]

    assert ranked_by_words("one plum", candidates)[0] == "one plum"
    assert ranked_by_words("cherries one", candidates)[0] == "two cherries"
