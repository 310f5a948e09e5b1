"""The typed look at a message's standard fields."""

from typing import Any

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.parlai.message import Message, MessageFields


def test_absent_fields_are_empty() -> None:
    fields = MessageFields(Message())

    assert fields.text is None
    assert fields.id is None
    assert fields.image is None
    assert fields.labels == fields.gold == fields.label_candidates == fields.beam_texts == ()
    assert fields.reward == 0.0
    assert fields.episode_done is False
    assert fields.metrics == {}


def test_gold_answers_are_found_in_and_outside_training() -> None:
    learning, testing = (
        MessageFields(Message(labels=["a"])),
        MessageFields(Message(eval_labels=("b",))),
    )

    assert learning.gold == ("a",)
    assert learning.is_training is True
    assert testing.gold == ("b",)
    assert testing.is_training is False


def test_other_fields_are_extended_ones() -> None:
    assert MessageFields(Message(text="t", answer_starts=[3])).extended == {"answer_starts": [3]}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", 1),
        ("id", b"x"),
        ("labels", "text"),
        ("labels", [1]),
        ("label_candidates", 5),
        ("text_candidates", {"a": 1}),
        ("reward", "1"),
        ("reward", True),
        ("episode_done", "False"),
        ("metrics", []),
        ("beam_texts", ["a"]),
    ],
)
def test_a_field_of_a_wrong_type_is_named(field: str, value: Any) -> None:
    with pytest.raises(BadInput) as refused:
        getattr(MessageFields({field: value}), field)

    assert refused.value.field == field


def test_beam_texts_are_texts_with_scores() -> None:
    assert MessageFields({"beam_texts": [["a", -1], ("b", 0.5)]}).beam_texts == (
        ("a", -1.0),
        ("b", 0.5),
    )
