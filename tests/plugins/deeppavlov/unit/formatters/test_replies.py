"""What each response formatter makes of a reply, written down from DREAM's contract."""

from typing import Any

import pytest

from prolocutor.plugins.deeppavlov.formatters.replies import RESPONSE_FORMATTERS

SKILL = "skill_with_attributes_formatter_service"
SELECTOR = "base_response_selector_formatter_service"


@pytest.mark.parametrize(
    ("name", "reply", "stored"),
    [
        ("simple_formatter_service", {"a": [1]}, {"a": [1]}),
        (SKILL, ["t", 0.5], [{"text": "t", "confidence": 0.5}]),
        (SKILL, ["t", 0.5, {"a": 1}], [{"text": "t", "confidence": 0.5, "a": 1}]),
        (
            SKILL,
            ["t", 0.5, {"h": 1}, {"b": 1}],
            [
                {
                    "text": "t",
                    "confidence": 0.5,
                    "human_attributes": {"h": 1},
                    "bot_attributes": {"b": 1},
                }
            ],
        ),
        (
            SKILL,
            [["t", "u"], [0.5, 0.4], [{"h": 1}, {}], [{}, {}], [{"a": 1}, {}]],
            [
                {
                    "text": "t",
                    "confidence": 0.5,
                    "human_attributes": {"h": 1},
                    "bot_attributes": {},
                    "a": 1,
                },
                {"text": "u", "confidence": 0.4, "human_attributes": {}, "bot_attributes": {}},
            ],
        ),
        (SKILL, [["", "t", "u"], [0.9, 0, -1]], []),
        (SKILL, [[], []], []),
        (SELECTOR, ["s", "t", 0.5], {"skill_name": "s", "text": "t", "confidence": 0.5}),
        (
            SELECTOR,
            ["s", "t", 0.5, {"h": 1}, {}],
            {
                "skill_name": "s",
                "text": "t",
                "confidence": 0.5,
                "human_attributes": {"h": 1},
                "bot_attributes": {},
            },
        ),
        (
            SELECTOR,
            ["s", "t", 0.5, {}, {}, {"a": 1}],
            {
                "skill_name": "s",
                "text": "t",
                "confidence": 0.5,
                "human_attributes": {},
                "bot_attributes": {},
                "attributes": {"a": 1},
            },
        ),
        (SELECTOR, ["s", "t", 0.5, {}], None),
        ("base_skill_formatter", ["", 0.0], [{"text": "", "confidence": 0.0}]),
        ("base_formatter_service", ["t", 0.5], [{"text": "t", "confidence": 0.5}]),
        ("base_formatter_service", ["t", 0.0], []),
        (
            "personality_catcher_formatter_service",
            ["t", 0.5, ["I am tall"]],
            [
                {
                    "text": "t",
                    "confidence": 0.5,
                    "personality": ["I am tall"],
                    "bot_attributes": {"persona": ["I am tall"]},
                }
            ],
        ),
        ("cobot_qa_formatter_service", [["a", "b"], [0.5, 0]], [{"text": "a", "confidence": 0.5}]),
        (
            "misheard_asr_formatter_service",
            [["a", ""], [0.5, 1], [{"h": 1}, {}], [{}, {}]],
            [{"text": "a", "confidence": 0.5, "human_attributes": {"h": 1}, "bot_attributes": {}}],
        ),
        (
            "entity_linking_formatter",
            [["Ann"], [["Q1", "Q2"]], [["human", "name"]]],
            [
                {
                    "entity_name": "Ann",
                    "wikidata_ids": [
                        {"id": "Q1", "instance_of": "human"},
                        {"id": "Q2", "instance_of": "name"},
                    ],
                }
            ],
        ),
    ],
)
def test_a_reply_is_stored_as_the_contract_says(name: str, reply: Any, stored: Any) -> None:
    assert RESPONSE_FORMATTERS[name](reply) == stored


def test_attributes_of_a_hypothesis_are_a_dict() -> None:
    with pytest.raises(ValueError, match="dict"):
        RESPONSE_FORMATTERS[SKILL](["t", 0.5, "tea"])


@pytest.mark.parametrize("reply", [[], ["t"]])
def test_a_hypothesis_has_text_and_confidence(reply: list[str]) -> None:
    with pytest.raises(ValueError, match="text and confidence"):
        RESPONSE_FORMATTERS[SKILL](reply)
