"""Questions with rewrites, as CANARD and QReCC have them, and how the rules do on them."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.data_sets import open_source
from prolocutor.errors import BadData
from prolocutor.plugins.evaluation import evaluate

CANARD = [
    {
        "History": ["Tokyo", "Time zone", "What time is it in Tokyo?", "Nine o'clock."],
        "QuAC_dialog_id": "C_1",
        "Question": "And in Paris?",
        "Question_no": 2,
        "Rewrite": "What time is it in Paris?",
    },
]
QRECC = [
    {
        "Context": ["population of  Peru", "34 million"],
        "Question": "what is its area?",
        "Rewrite": "what is the area of Peru?",
        "Answer": "1,285,216 square kilometers",
        "Conversation_no": 1,
        "Turn_no": 2,
    },
    {"Context": [], "Question": "who was Bach?", "Rewrite": "who was Bach?"},
]


def written(folder: Path, text: str) -> str:
    file = folder / "dev.json"
    file.write_text(text, encoding="utf-8")
    return f"rewrites:{file}"


@pytest.mark.parametrize("form", [json.dumps, lambda rows: "\n".join(map(json.dumps, rows))])
def test_history_and_question_are_the_text_and_the_rewrite_is_the_label(
    tmp_path: Path, form: Any
) -> None:
    data = written(tmp_path, form([*CANARD, *QRECC]))

    assert [list(one) for one in open_source(data).episodes()] == [
        [
            {
                "text": "Tokyo\nTime zone\nWhat time is it in Tokyo?\nNine o'clock.\nAnd in Paris?",
                "labels": ["What time is it in Paris?"],
            }
        ],
        [
            {
                "text": "population of Peru\n34 million\nwhat is its area?",
                "labels": ["what is the area of Peru?"],
            }
        ],
        [{"text": "who was Bach?", "labels": ["who was Bach?"]}],
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[1]", "question 1: is not an object"),
        ('[{"Question": "a", "Rewrite": "b"}, {"Question": "a"}]', "question 2: Rewrite is not"),
        ('[{"Question": "a", "Rewrite": "b", "History": "c"}]', "History is not a list"),
        ("[", "not JSON"),
        ('{"Question": "a", "Rewrite": 7}', "Rewrite is not a text"),
        ("nonsense", "not JSON"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(BadData, match=what):
        list(open_source(written(tmp_path, text)).episodes())


def test_the_rules_are_evaluated_by_equality_and_by_the_overlap_of_words(tmp_path: Path) -> None:
    rows = [*CANARD, *QRECC, {"Context": ["a", "b"], "Question": "left up", "Rewrite": "left down"}]
    data = written(tmp_path, json.dumps(rows))

    result = evaluate("prolocutor.plugins.language.follow_up.evaluated:RewritingAgent", data)

    report = result.report
    assert report.metrics["accuracy"].value == 0.75
    assert report.metrics["f1"].value == pytest.approx(0.875)
