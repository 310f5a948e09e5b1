"""A service with `rewrites` is asked what the words of a follow-up mean."""

from typing import Any

import pytest

from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.pairing.skill_selector import read_question
from prolocutor.testing.fake_service import FakeService
from tests.unit.pipeline.talk import Talk, hypothesis

MEANT = {"text": "time in Paris?", "of": "time in Rome?", "confidence": 0.9}


def heard(service: FakeService) -> dict[str, Any]:
    said: dict[str, Any] = service.requests[-1]["human_utterances"][-1]
    return {key: said[key] for key in ("text", "orig_text") if key in said}


async def test_it_sees_the_question_and_the_words_and_the_words_are_stored() -> None:
    rewriting, plain = FakeService([hypothesis("1 pm")]), FakeService([hypothesis("?", 0.1)])
    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", FakeService(MEANT))],
            skills=[Service("clock", rewriting, rewrites=True), Service("other", plain)],
        )
    )

    await talk.say("and Paris?")

    assert heard(rewriting) == {"text": "time in Paris?", "orig_text": "and Paris?"}
    assert heard(plain) == {"text": "and Paris?"}
    stored = (await talk.state())["utterances"][0]
    assert stored["text"] == "and Paris?"
    assert "orig_text" not in stored
    assert stored["annotations"]["follow_up"] == MEANT


@pytest.mark.parametrize(
    "annotation",
    [None, {}, {"text": ""}, {"text": 7}, "text", {"text": "hi"}, {"text": "x" * 9999}],
)
async def test_an_annotation_of_no_use_rewrites_nothing(annotation: Any) -> None:
    rewriting = FakeService([hypothesis("1 pm")])
    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", FakeService(annotation))],
            skills=[Service("clock", rewriting, rewrites=True)],
        )
    )

    await talk.say("hi")

    assert heard(rewriting) == {"text": "hi"}


def test_a_router_sees_the_words_and_their_meaning() -> None:
    state = {
        "utterances": [
            {"text": "time in Rome?"},
            {"text": "1 pm", "active_skill": "clock"},
            {"text": "and Paris?", "annotations": {"follow_up": MEANT}},
        ]
    }

    found = read_question(state)

    assert found.text == "and Paris?"
    assert found.meant == "time in Paris?"
    assert found.meant_surely == 0.9
