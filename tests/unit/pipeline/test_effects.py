"""What a reply does beside filling its slot: the effects that a response formatter returns."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor import Effects, TurnRequest
from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.pipeline.talk import Talk, asked, errors, hypothesis, outcomes, says, skill


def with_effects(name: str, reply: Any, **effects: Any) -> Service:
    """Make a service whose reply, whatever it is, has these effects."""
    return says(name, reply, response_formatter=lambda reply: Effects(**effects))


async def test_a_reply_without_effects_fills_its_slot() -> None:
    note = with_effects("note", 1, value=2)

    turn = await Talk(Pipeline(annotators=[note], skills=[skill()])).turn()

    assert turn.draft.annotations() == {"note": 2}


async def test_effects_without_a_value_fill_no_slot() -> None:
    pipeline = Pipeline(
        annotators=[with_effects("note", 1)],
        skills=[skill()],
        candidate_annotators=[with_effects("rank", 1)],
        response_annotators=[with_effects("tone", 1)],
    )

    turn = await Talk(pipeline).turn()

    assert {*outcomes(turn).values()} == {"done"}
    assert turn.draft.annotations() == {}
    assert turn.draft.final_reply().annotations == {}
    assert turn.draft.hypotheses()[0]["annotations"] == {}


async def test_the_reply_before_is_annotated() -> None:
    chat, note = skill(), with_effects("note", 1, previous="polite")
    talk = Talk(Pipeline(annotators=[note], skills=[chat]))
    await talk.turn()
    await talk.turn()

    assert asked(chat)[1]["bot_utterances"][-1]["annotations"] == {"note": "polite"}


async def test_later_services_of_the_turn_see_changed_attributes() -> None:
    chat = skill()
    note = with_effects("note", 1, human_attributes={"n": 1}, bot_attributes={"m": 2})

    await Talk(Pipeline(annotators=[note], skills=[chat])).turn()

    (request,) = asked(chat)
    assert request["human"]["attributes"] == {"n": 1}
    assert request["bot"]["attributes"] == {"m": 2}


@pytest.mark.parametrize(
    ("asks", "settled"),
    [(None, ["done", "done"]), (["b"], ["skipped", "done"]), ([], ["skipped", "skipped"])],
)
async def test_those_that_wait_for_a_service_are_asked_as_it_says(
    asks: list[str] | None, settled: list[str]
) -> None:
    picks = with_effects("picks", 1, asks=asks)
    others = [says("a", 1, after=["picks"]), says("c", 1, after=["picks"], label="b")]

    turn = await Talk(Pipeline(annotators=[picks, *others], skills=[skill()])).turn()

    assert [outcomes(turn)[name] for name in ("a", "c")] == settled


async def test_attributes_of_the_chosen_hypothesis_need_not_go_with_the_reply() -> None:
    choice = {"skill_name": "chat", "text": "well", "confidence": 0.5}
    selector = with_effects("selector", 1, value=choice, carries=False)
    talk = Talk(Pipeline(skills=[skill(human_attributes={"n": 1})], response_selector=selector))
    await talk.turn()

    state = await talk.state()

    assert state["bot_utterances"][-1]["text"] == "well"
    assert state["human"]["attributes"] == {}


@pytest.mark.parametrize("together", [True, False])
async def test_hypotheses_are_annotated_together(together: bool) -> None:
    rank = says(
        "rank",
        0,
        together=together,
        response_formatter=lambda reply: Effects(hypotheses=[1, 2]),
    )
    pipeline = Pipeline(skills=[skill("a"), skill("b")], candidate_annotators=[rank])

    turn = await Talk(pipeline).turn()

    assert [one["annotations"] for one in turn.draft.hypotheses()] == [{"rank": 1}, {"rank": 2}]


@pytest.mark.parametrize(
    ("effects", "what"),
    [
        ({"value": float("nan")}, "nan is not a number that JSON has"),
        ({"previous": {1: 2}}, "key"),
        ({"human_attributes": {"a": object()}}, "a object cannot be written as JSON"),
        ({"asks": "tone"}, "expected a list of names, found a text"),
    ],
)
async def test_effects_that_are_none_are_the_services_failure(
    effects: dict[str, Any], what: str
) -> None:
    note = with_effects("note", 1, **effects)

    turn = await Talk(Pipeline(annotators=[note], skills=[skill()])).turn()

    assert outcomes(turn) == {"note": "failed", "chat": "done"}
    assert what in str(errors(turn)["note"])


async def test_annotations_of_another_number_of_hypotheses_are_the_services_failure() -> None:
    rank = with_effects("rank", 1, hypotheses=[1, 2])

    turn = await Talk(Pipeline(skills=[skill()], candidate_annotators=[rank])).turn()

    assert errors(turn) == {"rank": "$: 2 items for 1 hypotheses"}


async def test_a_response_formatter_may_be_shown_the_turn() -> None:
    def counted(reply: Any, turn: TurnRequest, *, more: int) -> Effects:
        assert turn.reply is None
        return Effects(hypotheses=[[one.text, reply, more] for one in turn.hypotheses])

    rank = says(
        "rank",
        7,
        together=True,
        response_formatter=counted,
        response_formatter_options={"more": 3},
    )
    talk = says("talk", [hypothesis("a"), hypothesis("b")])

    turn = await Talk(Pipeline(skills=[talk], candidate_annotators=[rank])).turn()

    noted = [one["annotations"]["rank"] for one in turn.draft.hypotheses()]
    assert noted == [["a", 7, 3], ["b", 7, 3]]


async def test_a_fan_out_annotates_the_replies_of_its_calls() -> None:
    def odd(reply: Any) -> Any:
        return reply if reply % 2 else Effects()

    tasks = {"formatter": lambda state: [1, 2, 3], "fan_out": True}
    each = says("each", 1, 2, 3, **tasks, response_formatter=odd)

    turn = await Talk(Pipeline(annotators=[each], skills=[skill()])).turn()

    assert turn.draft.annotations() == {"each": [1, 3]}
