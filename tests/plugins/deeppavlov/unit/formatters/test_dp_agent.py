"""The formatters of DeepPavlov Agent itself, by their names there."""

from typing import Any

import pytest

from prolocutor.plan.formatters import NAMED

STATE = {
    "utterances": [{"text": "hi", "annotations": {"ner": []}}],
    "human_utterances": [{"text": "hi", "hypotheses": [{"text": "a"}, {"text": "b"}]}],
}


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("base_last_utterances_formatter_in", {"x": ["hi"]}),
        ("chitchat_formatter_in", {"q": ["hi"]}),
        ("odqa_formatter_in", {"question_raw": ["hi"]}),
        ("base_hypotheses_formatter_in", [{"x": ["a"]}, {"x": ["b"]}]),
        ("all_hypotheses_formatter_in", {"hypotheses": [{"text": "a"}, {"text": "b"}]}),
        (
            "chitchat_example_formatter_in",
            {
                "utterances": ["hi"],
                "annotations": [{"ner": []}],
                "u_histories": [["hi"]],
                "dialogs": STATE,
            },
        ),
    ],
)
def test_a_request_has_the_form_of_dp_agent(name: str, asks: Any) -> None:
    assert NAMED.load(name)(STATE) == asks


@pytest.mark.parametrize(
    ("name", "reply", "shaped"),
    [
        ("ner_formatter_out", [["Paris"], ["LOC"]], {"tokens": ["Paris"], "tags": ["LOC"]}),
        ("sentiment_formatter_out", "neutral", "neutral"),
        ("chitchat_odqa_formatter_out", "speech", ["chitchat"]),
        ("chitchat_odqa_formatter_out", "negative", ["chitchat"]),
        ("chitchat_odqa_formatter_out", "neutral", ["odqa"]),
        ("add_confidence_formatter_out", ["hi"], [{"text": "hi", "confidence": 0.5}]),
        (
            "chitchat_example_formatter_out",
            ["hi", 0.3, "joe"],
            [{"text": "hi", "confidence": 0.3, "name": "joe"}],
        ),
    ],
)
def test_a_reply_is_read_as_dp_agent_reads_it(name: str, reply: Any, shaped: Any) -> None:
    assert NAMED.load(name)(reply) == shaped
