"""Selecting in waves: select, call, look, select more."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from prolocutor.contracts.selection import Enough, Selection, enough
from prolocutor.errors import ConfigError
from prolocutor.pipeline.turn import Turn
from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.pipeline.talk import (
    FALLBACK,
    Talk,
    asked,
    errors,
    hypothesis,
    outcomes,
    says,
    skill,
)
from tests.unit.pipeline.test_order import Stage, gate, speaker

More = Callable[..., Any]


def selects(first: Any, more: More | None = None, **options: Any) -> Service:
    return says("selector", lambda request: Selection(first, more), **options)


def names(hypotheses: list[dict[str, Any]]) -> list[str]:
    return [one["skill_name"] for one in hypotheses]


async def take(pipeline: Pipeline, **start: Any) -> Turn:
    return await Talk(pipeline, deadline=60).turn(**start)


def spoke(turn: Turn) -> list[str]:
    return names(turn.draft.hypotheses())


async def test_without_a_skill_selector_all_skills_are_asked() -> None:
    assert spoke(await take(Pipeline(skills=[skill("a"), skill("b")]))) == ["a", "b"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["b"], ["b"]),
        (["b", "a"], ["a", "b"]),
        (["b", "b"], ["b"]),
        ([], []),
        (None, ["a", "b", "c"]),
    ],
)
async def test_only_the_selected_skills_are_asked(names: Any, expected: list[str]) -> None:
    pipeline = Pipeline(
        skill_selector=says("selector", names), skills=[skill("a"), skill("b"), skill("c")]
    )
    turn = await take(pipeline)
    assert spoke(turn) == expected
    assert turn.asked_skills() == expected


async def test_an_unknown_name_is_a_recorded_fault_and_the_rest_counts() -> None:
    pipeline = Pipeline(
        skill_selector=says("selector", ["nobody", "a"]), skills=[skill("a"), skill("b")]
    )
    turn = await take(pipeline)
    assert spoke(turn) == ["a"]
    assert turn.faults == [
        {"service": "selector", "what": "selects 'nobody', which is not a skill"}
    ]


async def test_several_selectors_make_the_union_in_declared_order() -> None:
    pipeline = Pipeline(
        skill_selector=[says("one", ["c"]), says("other", ["a"])],
        skills=[skill("a"), skill("b"), skill("c")],
    )
    assert spoke(await take(pipeline)) == ["a", "c"]


async def test_of_several_selectors_those_that_work_count() -> None:
    pipeline = Pipeline(
        skill_selector=[says("broken", ValueError("no")), says("other", ["a"])],
        skills=[skill("a"), skill("b")],
    )
    assert spoke(await take(pipeline)) == ["a"]


async def test_when_every_selector_fails_all_skills_are_asked() -> None:
    pipeline = Pipeline(
        skill_selector=says("broken", ValueError("no")), skills=[skill("a"), skill("b")]
    )
    assert spoke(await take(pipeline)) == ["a", "b"]


async def test_nobody_selected_means_the_last_chance() -> None:
    pipeline = Pipeline(
        skill_selector=says("selector", []),
        skills=[skill()],
        last_chance=says("last", "Sorry."),
    )
    assert (await take(pipeline)).draft.final_reply().text == "Sorry."


# -- more -------------------------------------------------------------------------------------


async def test_a_selection_without_more_is_a_plain_list() -> None:
    pipeline = Pipeline(skill_selector=selects(["b"]), skills=[skill("a"), skill("b")])
    assert spoke(await take(pipeline)) == ["b"]


async def test_more_sees_the_hypotheses_so_far_and_the_seconds_left() -> None:
    seen: list[tuple[list[str], bool]] = []

    def more(hypotheses: list[dict[str, Any]], seconds: float) -> list[str]:
        seen.append((names(hypotheses), 0 < seconds < 60))
        return ["c"] if len(seen) == 1 else []

    pipeline = Pipeline(
        skill_selector=selects(["b"], more), skills=[skill("a"), skill("b"), skill("c")]
    )
    turn = await take(pipeline)
    assert seen == [(["b"], True), (["b", "c"], True)]
    assert outcomes(turn) == {"selector": "done", "a": "skipped", "b": "done", "c": "done"}
    assert errors(turn) == {}


async def test_more_is_asked_whenever_a_called_skill_settles() -> None:
    looks = 0

    def more(hypotheses: list[dict[str, Any]], seconds: float) -> None:
        nonlocal looks
        looks += 1

    pipeline = Pipeline(
        skill_selector=gate("selector", None),
        skills=[speaker("a"), gate("b", None), speaker("c")],
    )
    stage = Stage(pipeline)
    stage.gates["selector"].reply = Selection(["a", "b"], more)
    async with stage:
        await stage.let("selector")
        assert looks == 0
        await stage.let("b")
        assert looks == 1
        await stage.let("a")
        assert looks == 2


async def test_enough_cancels_those_that_are_running() -> None:
    stage = Stage(
        Pipeline(skill_selector=gate("selector"), skills=[speaker("quick"), speaker("slow")])
    )
    stage.gates["selector"].reply = Selection(["quick", "slow"], lambda *_: enough)
    async with stage:
        await stage.let("selector", "quick")
        turn = await stage.end()
    assert turn.draft.final_reply().text == "quick"
    assert stage.gates["slow"].cancelled == 1
    assert outcomes(turn)["slow"] == "skipped"


async def test_hypotheses_after_enough_do_not_count() -> None:
    stage = Stage(Pipeline(skill_selector=gate("selector"), skills=[speaker("a"), speaker("b")]))
    stage.gates["selector"].reply = Selection(["a", "b"], lambda *_: enough)
    async with stage:
        await stage.let("selector")
        await stage.let("a", "b")
        turn = await stage.end()
    assert spoke(turn) == ["a"]


async def test_more_may_name_a_skill_twice_without_its_being_asked_twice() -> None:
    once = skill("a")
    pipeline = Pipeline(skill_selector=selects(["a"], lambda *_: ["a"]), skills=[once])
    await take(pipeline)
    assert len(asked(once)) == 1


@pytest.mark.parametrize(
    "more",
    [
        lambda *_: None,
        lambda *_: [],
        lambda *_: ["nobody"],
        lambda *_: 5,
        lambda *_: "b",
        lambda *_: [["b"], {}, None],
        lambda *_: {"b": 1},
        list,
        "not callable",
    ],
)
async def test_more_that_names_nobody_ends_the_selection(more: Any) -> None:
    pipeline = Pipeline(skill_selector=selects(["a"], more), skills=[skill("a"), skill("b")])
    assert spoke(await take(pipeline)) == ["a"]


@pytest.mark.parametrize(
    "fault", [ValueError("no"), SystemExit(3), asyncio.CancelledError(), KeyboardInterrupt()]
)
async def test_more_that_raises_is_a_recorded_fault(fault: BaseException) -> None:
    def more(hypotheses: Any, seconds: Any) -> Any:
        raise fault

    pipeline = Pipeline(skill_selector=selects(["a"], more), skills=[skill("a"), skill("b")])
    turn = await take(pipeline)
    assert spoke(turn) == ["a"]
    assert [one["service"] for one in turn.faults] == ["selector"]


async def later(hypotheses: Any, seconds: Any) -> list[str]:
    return ["b"]


async def one_by_one(hypotheses: Any, seconds: Any) -> Any:
    yield "b"


@pytest.mark.parametrize("more", [later, one_by_one, "not callable"])
async def test_more_that_cannot_answer_at_once_is_a_recorded_fault(more: Any) -> None:
    pipeline = Pipeline(skill_selector=selects(["a"], more), skills=[skill("a"), skill("b")])
    turn = await take(pipeline)
    assert spoke(turn) == ["a"]
    [fault] = turn.faults
    assert fault["what"].startswith("its `more` selects nothing: it must be a plain function")


async def test_a_first_wave_of_nobody_still_asks_for_more() -> None:
    def more(hypotheses: list[Any], seconds: float) -> list[str]:
        return [] if hypotheses else ["b"]

    pipeline = Pipeline(skill_selector=selects([], more), skills=[skill("a"), skill("b")])
    assert spoke(await take(pipeline)) == ["b"]


async def test_a_first_wave_of_nobody_and_no_more_is_over_at_once() -> None:
    pipeline = Pipeline(skill_selector=selects([], lambda *_: None), skills=[skill()])
    assert (await take(pipeline)).draft.final_reply().text == FALLBACK


async def test_a_skill_that_waits_for_one_that_is_held_does_not_wait_for_ever() -> None:
    pipeline = Pipeline(
        skill_selector=selects(["b"], lambda *_: None),
        skills=[skill("a"), says("b", hypothesis(), after=["a"])],
    )
    assert spoke(await take(pipeline)) == ["b"]


@pytest.mark.parametrize("first", [5, "a", {"a": 1}, [5], [float("nan")], object()])
async def test_a_first_wave_that_is_no_list_of_names_is_the_selectors_failure(first: Any) -> None:
    pipeline = Pipeline(skill_selector=selects(first), skills=[skill("a"), skill("b")])
    turn = await take(pipeline)
    assert spoke(turn) == ["a", "b"]
    assert outcomes(turn)["selector"] == "failed"


async def test_a_selection_from_a_plain_function_counts_too() -> None:
    def selector(request: Any) -> Selection:
        return Selection(["b"])

    for options in ({}, {"inline": True}):
        pipeline = Pipeline(
            skill_selector=Service("selector", selector, **options), skills=[skill("a"), skill("b")]
        )
        assert spoke(await take(pipeline)) == ["b"]


async def test_a_selection_in_another_place_is_a_bad_reply() -> None:
    pipeline = Pipeline(skills=[says("odd", lambda request: Selection(["b"])), skill("b")])
    turn = await take(pipeline)
    assert spoke(turn) == ["b"]
    assert outcomes(turn)["odd"] == "failed"


# -- candidate annotators ---------------------------------------------------------------------


async def test_candidate_annotators_see_each_wave_when_it_is_complete() -> None:
    def more(hypotheses: list[dict[str, Any]], seconds: float) -> list[str]:
        return ["c"] if "c" not in names(hypotheses) else []

    toxic = says("toxic", lambda request: request["hypothesis"]["skill_name"].upper())
    pipeline = Pipeline(
        skill_selector=selects(["a", "b"], more),
        skills=[skill("a"), skill("b"), skill("c")],
        candidate_annotators=[toxic],
    )
    turn = await take(pipeline)
    assert [one["hypothesis"]["skill_name"] for one in asked(toxic)] == ["a", "b", "c"]
    assert [one["annotations"]["toxic"] for one in turn.draft.hypotheses()] == ["A", "B", "C"]


async def test_a_complete_wave_is_annotated_while_the_next_one_runs() -> None:
    stage = Stage(
        Pipeline(
            skill_selector=gate("selector"),
            skills=[speaker("a"), speaker("b")],
            candidate_annotators=[gate("toxic")],
        )
    )
    stage.gates["selector"].reply = Selection(["a"], lambda *_: ["b"])
    async with stage:
        await stage.let("selector", "a")
        assert {"toxic", "b"} <= stage.started


async def test_tasks_for_all_hypotheses_are_cut_to_the_wave() -> None:
    toxic = says(
        "toxic",
        lambda task: task["x"][0],
        formatter="base_hypotheses_formatter_in",
        fan_out=True,
    )
    pipeline = Pipeline(
        skill_selector=selects(["b"], lambda *_: ["a"]),
        skills=[skill("a", "A"), skill("b", "B")],
        candidate_annotators=[toxic],
    )
    turn = await take(pipeline)
    assert [one["annotations"] for one in turn.draft.hypotheses()] == [
        {"toxic": "A"},
        {"toxic": "B"},
    ]


@pytest.mark.parametrize("inline", [True, False])
async def test_a_candidate_annotator_may_be_asked_about_a_whole_wave_at_once(inline: bool) -> None:
    def loud(request: dict[str, Any]) -> list[str]:
        seen.append(names(request["hypotheses"]))
        return [one["text"].upper() for one in request["hypotheses"]]

    def more(hypotheses: list[dict[str, Any]], seconds: float) -> list[str]:
        return ["c"] if "c" not in names(hypotheses) else []

    seen: list[list[str]] = []
    pipeline = Pipeline(
        skill_selector=selects(["b", "a"], more),
        skills=[skill("a", "x"), skill("b", "y"), skill("c", "z")],
        candidate_annotators=[Service("loud", loud, together=True, inline=inline)],
    )
    turn = await take(pipeline)
    assert seen == [["a", "b"], ["c"]]
    assert [one["annotations"]["loud"] for one in turn.draft.hypotheses()] == ["X", "Y", "Z"]
    assert [record.calls for record in turn.records() if record.name == "loud"] == [2]


async def test_of_a_list_about_a_wave_a_bad_item_fails_alone() -> None:
    def odd(request: dict[str, Any]) -> list[Any]:
        return [1, object(), float("nan")]

    pipeline = Pipeline(
        skills=[skill("a"), skill("b"), skill("c")],
        candidate_annotators=[Service("odd", odd, together=True)],
    )
    turn = await take(pipeline)
    assert [one["annotations"] for one in turn.draft.hypotheses()] == [{"odd": 1}, {}, {}]
    assert outcomes(turn)["odd"] == "done"
    assert turn.faults == [
        {"service": "odd", "what": "item 1: $: a object cannot be written as JSON"},
        {"service": "odd", "what": "item 2: $: nan is not a number that JSON has"},
    ]


@pytest.mark.parametrize("reply", [[1], [1, 2, 3], {"a": 1}, None, "ab", float("nan")])
async def test_a_reply_on_a_wave_other_than_a_list_is_the_candidate_annotators_failure(
    reply: Any,
) -> None:
    pipeline = Pipeline(
        skills=[skill("a"), skill("b")],
        candidate_annotators=[says("odd", reply, together=True)],
    )
    turn = await take(pipeline)
    assert spoke(turn) == ["a", "b"]
    assert outcomes(turn)["odd"] == "failed"
    assert all(one["annotations"] == {} for one in turn.draft.hypotheses())


async def test_requests_about_waves_may_go_out_in_batches() -> None:
    def each(requests: list[dict[str, Any]]) -> list[Any]:
        return [[len(request["hypotheses"])] * len(request["hypotheses"]) for request in requests]

    pipeline = Pipeline(
        skills=[skill("a"), skill("b")],
        candidate_annotators=[Service("each", each, together=True, batch_size=4)],
    )
    turn = await take(pipeline)
    assert [one["annotations"]["each"] for one in turn.draft.hypotheses()] == [2, 2]


@pytest.mark.parametrize(
    "services",
    [
        {"skills": [says("a", hypothesis(), together=True)]},
        {
            "skills": [skill("a")],
            "candidate_annotators": [says("b", [], together=True, fan_out=True, formatter=str)],
        },
    ],
)
def test_together_where_it_means_nothing_is_refused(services: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="together"):
        Talk(Pipeline(**services))


async def test_candidate_annotators_that_wait_for_each_other_do_so_in_each_wave() -> None:
    second = says("second", lambda request: list(request["hypothesis"]["annotations"]))
    pipeline = Pipeline(
        skill_selector=selects(["a"], lambda *_: ["b"]),
        skills=[skill("a"), skill("b")],
        candidate_annotators=[says("first", 1), Service("second", second.target, after=["first"])],
    )
    turn = await take(pipeline)
    noted = [one["annotations"]["second"] for one in turn.draft.hypotheses()]
    assert noted == [["first"], ["first"]]


async def test_without_hypotheses_candidate_annotators_are_skipped() -> None:
    toxic = says("toxic", 0)
    pipeline = Pipeline(skills=[says("chat", [])], candidate_annotators=[toxic])
    turn = await take(pipeline)
    assert asked(toxic) == []
    assert outcomes(turn)["toxic"] == "skipped"


# -- a turn that is given to somebody ---------------------------------------------------------


async def test_a_forced_skill_alone_is_asked_and_gets_the_additions() -> None:
    selector, a, b = says("selector", ["a"]), skill("a"), skill("b")
    pipeline = Pipeline(skill_selector=selector, skills=[a, b])
    answer = {"answer": {"kind": "number", "value": 5, "raw": "five"}}
    turn = await take(pipeline, forced_skill="b", extra=answer)
    assert spoke(turn) == ["b"]
    assert asked(selector) == []
    assert asked(a) == []
    assert asked(b)[0]["answer"] == answer["answer"]


async def test_an_unknown_forced_skill_forces_nothing() -> None:
    assert spoke(await take(Pipeline(skills=[skill("a")]), forced_skill="gone")) == ["a"]


async def test_a_preferred_skill_is_asked_in_any_case() -> None:
    pipeline = Pipeline(skill_selector=says("selector", ["a"]), skills=[skill("a"), skill("b")])
    assert spoke(await take(pipeline, preferred="b")) == ["a", "b"]


@pytest.mark.parametrize(("other", "winner"), [(0.6, "preferred"), (0.7, "other")])
async def test_a_preferred_skill_wins_unless_another_is_clearly_better(
    other: float, winner: str
) -> None:
    skills = [skill("other", "other", other), skill("preferred", "preferred", 0.5)]
    turn = await take(Pipeline(skills=skills), preferred="preferred")
    assert turn.draft.final_reply().active_skill == winner


async def test_who_chooses_may_see_who_has_settled_those_that_failed_included() -> None:
    seen: list[list[str]] = []

    def more(hypotheses: Any, seconds_left: float, settled: list[str]) -> Any:
        seen.append(sorted(settled))
        return ["c"] if len(settled) == 2 else None

    pipeline = Pipeline(
        skill_selector=selects(["a", "b"], more),
        skills=[says("a", ValueError("no")), skill("b"), skill("c")],
    )
    turn = await take(pipeline)

    assert seen[-2:] == [["a", "b"], ["a", "b", "c"]]
    assert spoke(turn) == ["b", "c"]


async def test_reasons_are_on_record_in_the_order_of_the_waves() -> None:
    def more(hypotheses: Any, seconds_left: float) -> Any:
        if len(hypotheses) == 1:
            return Selection(["b"], reason="one is too few")
        return Enough("two are enough")

    pipeline = Pipeline(
        skill_selector=says("selector", lambda request: Selection(["a"], more, "a knows most")),
        skills=[skill("a"), skill("b")],
    )
    turn = await take(pipeline)

    assert turn.reasons == [
        {"service": "selector", "asked": ["a"], "reason": "a knows most"},
        {"service": "selector", "asked": ["b"], "reason": "one is too few"},
        {"service": "selector", "asked": [], "reason": "two are enough"},
    ]


async def test_a_skill_that_is_always_asked_needs_no_selector() -> None:
    always = says("always", [hypothesis("me too")], after=[], always=True)
    other = says("other", [hypothesis("not me")])
    chooser = says("chooser", ["chat"])
    talk = Talk(Pipeline(skill_selector=chooser, skills=[skill(), always, other]))

    turn = await talk.turn()

    assert turn.asked_skills() == ["chat", "always"]


async def test_a_batch_is_a_reply_about_all_hypotheses() -> None:
    rank = says("rank", {"batch": [7]}, together=True)
    talk = Talk(Pipeline(skills=[skill()], candidate_annotators=[rank]))

    turn = await talk.turn()

    assert [one["annotations"] for one in turn.draft.hypotheses()] == [{"rank": 7}]
