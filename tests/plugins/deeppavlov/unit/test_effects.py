"""What becomes of a service's reply, as the keys of DREAM's services say it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.pipeline.talk import PATIENCE, Gate, Talk, asked, hypothesis, outcomes, says, skill


async def test_an_annotation_of_the_previous_reply_is_seen_by_later_services_and_stored() -> None:
    note = says("bot_note", "polite", writes="previous_reply", label="tone")
    chat = says("chat", [hypothesis()])
    talk = Talk(Pipeline(annotators=[note], skills=[chat]))
    await talk.turn()
    await talk.turn()

    shown = [utterance["annotations"] for utterance in asked(chat)[1]["bot_utterances"]]
    state = await talk.state()

    assert shown == [{"tone": "polite"}]
    assert [utterance["annotations"] for utterance in state["bot_utterances"]] == [
        {"tone": "polite"},
        {},
    ]
    assert all(utterance["annotations"] == {} for utterance in state["human_utterances"])


async def test_attributes_count_in_mid_turn_and_are_no_annotation() -> None:
    goals = says("goals", {"human_attributes": {"goal": 1}, "other": 2}, writes="attributes")
    chat = skill()
    talk = Talk(Pipeline(annotators=[goals], skills=[chat], user_snapshot="before"))
    await talk.turn()

    (request,) = asked(chat)

    assert request["human"]["attributes"] == {"goal": 1}
    assert request["utterances"][-1]["user"]["attributes"] == {}
    assert request["utterances"][-1]["annotations"] == {}


async def test_a_selector_of_annotators_skips_those_that_it_does_not_name() -> None:
    picker = says("picker", ["tone"], selects=True, writes="nothing")
    tone = says("bot_tone", 1, after=["picker"], label="tone")
    mood = says("mood", 2, after=["picker"])
    talk = Talk(Pipeline(annotators=[picker, tone, mood], skills=[skill()]))

    turn = await talk.turn()

    assert outcomes(turn) == {
        "picker": "done",
        "bot_tone": "done",
        "mood": "skipped",
        "chat": "done",
    }
    assert turn.draft.annotations() == {"tone": 1}


@pytest.mark.parametrize("nobody", [None, []])
async def test_a_selector_that_names_nobody_leaves_nobody_out(nobody: object) -> None:
    picker = says("picker", nobody, selects=True, writes="nothing")
    tone = says("tone", 1, after=["picker"])
    talk = Talk(Pipeline(annotators=[picker, tone], skills=[skill()]))

    turn = await talk.turn()

    assert outcomes(turn)["tone"] == "done"


async def test_the_first_turn_of_a_dialog_resets_attributes_but_for_those_that_are_named() -> None:
    clean = says("clean", "ok", first_turn_attributes={"disliked": []})
    chat = says("chat", [hypothesis(human_attributes={"n": 1})])
    talk = Talk(Pipeline(annotators=[clean], skills=[chat]))
    await talk.turn()
    await talk.turn()

    first, second = asked(chat)

    assert first["human"]["attributes"] == {"disliked": []}
    assert second["human"]["attributes"] == {"disliked": [], "n": 1}


async def test_the_utterance_keeps_attributes_that_were_written_before_the_reset() -> None:
    goals = says("goals", {"human_attributes": {"goal": 1}}, writes="attributes")
    clean = says("clean", "ok", first_turn_attributes={"disliked": []}, after=["goals"])
    chat = skill()
    talk = Talk(Pipeline(annotators=[goals, clean], skills=[chat], user_snapshot="current"))
    await talk.turn()

    (request,) = asked(chat)

    assert request["human"]["attributes"] == {"disliked": []}
    assert request["utterances"][-1]["user"]["attributes"] == {"goal": 1}


async def test_a_reply_about_another_number_of_hypotheses_may_be_empty_for_each() -> None:
    rank = says("rank", {"batch": [1, 2]}, together=True, mismatch="empty")
    talk = Talk(Pipeline(skills=[skill()], candidate_annotators=[rank]))

    turn = await talk.turn()

    assert [one["annotations"] for one in turn.draft.hypotheses()] == [{"rank": {}}]


@pytest.mark.parametrize(
    ("skills", "replies", "annotations"),
    [
        (1, [{"batch": [7]}], [7]),
        (2, [{"batch": [7]}], [{}, {}]),
        (2, [{"batch": [7]}, {"batch": [8, 9]}], [8, 9]),
        (2, [{"batch": [8, 9]}, ValueError("no")], [8, 9]),
    ],
)
async def test_each_of_several_replies_may_be_about_all_hypotheses_and_the_last_counts(
    skills: int, replies: list[Any], annotations: list[Any]
) -> None:
    tasks = {"formatter": lambda state: list(range(skills)), "fan_out": True}
    rank = says("rank", *replies, **tasks, mismatch="empty")
    names = ["chat", "talk"][:skills]
    talk = Talk(Pipeline(skills=[skill(name) for name in names], candidate_annotators=[rank]))

    turn = await talk.turn()

    assert [one["annotations"]["rank"] for one in turn.draft.hypotheses()] == annotations


@pytest.mark.parametrize(("mismatch", "annotations"), [("empty", {}), ("fails", {"rank": 7})])
async def test_an_annotation_that_comes_after_the_reply_may_count_for_nothing(
    mismatch: Any, annotations: Any
) -> None:
    rank = Gate([7])
    ranking = Service("rank", rank, together=True, mismatch=mismatch, timeout=PATIENCE)
    choosing = says("choose", {"skill_name": "chat", "text": "hello", "confidence": 1}, after=[])
    spoken = Gate({})
    behind = Service("behind", spoken, timeout=PATIENCE)
    talk = Talk(
        Pipeline(
            skills=[skill()],
            candidate_annotators=[ranking],
            response_selector=choosing,
            response_annotators=[behind],
        )
    )

    running = asyncio.create_task(talk.turn())
    await spoken.started.wait()
    rank.opened.set()
    spoken.opened.set()
    turn = await running

    assert [one["annotations"] for one in turn.draft.hypotheses()] == [annotations]


async def test_a_choice_that_carries_nothing_says_what_the_selector_says() -> None:
    chat = skill(human_attributes={"n": 1}, attributes={"a": 1})
    note = says("note", 1)
    choice = {"skill_name": "chat", "text": "hello", "confidence": 0.5}
    bare = says("selector", choice, carries="nothing")
    talk = Talk(Pipeline(skills=[chat], candidate_annotators=[note], response_selector=bare))
    await talk.turn()

    state = await talk.state()

    bot = state["bot_utterances"][-1]
    assert bot["annotations"] == {}
    assert bot["attributes"] == {}
    assert state["human"]["attributes"] == {}
