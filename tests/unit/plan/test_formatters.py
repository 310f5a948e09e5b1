"""Formatters cut requests out of a dialog and bring replies into shape."""

from typing import Any

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline
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


def both_ways(payload: Any, mode: str) -> Any:
    return payload["utterances"][-1]["text"] if mode == "in" else [hypothesis(payload)]


async def test_a_formatter_decides_what_a_service_is_asked_and_how_its_reply_is_read() -> None:
    chat = says(
        "chat",
        "hello",
        formatter="base_last_utterances_formatter_in",
        response_formatter=lambda reply: [hypothesis(reply)],
    )
    assert await Talk(Pipeline(skills=[chat])).say("good morning") == "hello"
    assert asked(chat) == [{"x": ["good morning"]}]


async def test_one_function_with_a_mode_does_both_directions() -> None:
    chat = says("chat", "hello", formatter=both_ways, response_formatter=both_ways)
    assert await Talk(Pipeline(skills=[chat])).say("good morning") == "hello"
    assert asked(chat) == ["good morning"]


async def test_a_formatter_is_found_by_module_and_name() -> None:
    where = f"{__name__}:both_ways"
    chat = says("chat", "hello", formatter=where, response_formatter=where)
    assert await Talk(Pipeline(skills=[chat])).say() == "hello"


async def test_a_formatter_that_fans_out_makes_one_call_for_each_task() -> None:
    annotator = says(
        "ner", lambda letter: letter.upper(), formatter=lambda state: ["a", "b"], fan_out=True
    )
    turn = await Talk(Pipeline(annotators=[annotator], skills=[skill()])).turn()
    assert turn.draft.annotations() == {"ner": ["A", "B"]}


async def test_the_hypotheses_of_a_skill_that_fans_out_are_all_taken() -> None:
    chat = says(
        "chat",
        lambda text: [hypothesis(text), hypothesis(text * 2)],
        formatter=lambda state: ["a", "b"],
        fan_out=True,
    )
    turn = await Talk(Pipeline(skills=[chat])).turn()
    assert [(one["hypothesis_id"], one["text"]) for one in turn.draft.hypotheses()] == [
        ("chat.0", "a"),
        ("chat.1", "aa"),
        ("chat.2", "b"),
        ("chat.3", "bb"),
    ]


async def test_one_bad_task_of_several_spoils_nothing_else() -> None:
    annotator = says(
        "ner", ValueError("no"), "fine", formatter=lambda state: ["a", "b"], fan_out=True
    )
    turn = await Talk(Pipeline(annotators=[annotator], skills=[skill()])).turn()
    assert turn.draft.annotations() == {"ner": ["fine"]}
    assert [fault["service"] for fault in turn.faults] == ["ner"]


async def test_candidate_annotators_that_fan_out_have_a_task_for_each_hypothesis() -> None:
    annotator = says(
        "toxic",
        lambda task: task["x"][0].upper(),
        formatter="base_hypotheses_formatter_in",
        fan_out=True,
    )
    chat = says("chat", [hypothesis("one"), hypothesis("two")])
    turn = await Talk(Pipeline(skills=[chat], candidate_annotators=[annotator])).turn()
    noted = [one["annotations"] for one in turn.draft.hypotheses()]
    assert noted == [{"toxic": "ONE"}, {"toxic": "TWO"}]


FAULTS = [ValueError("no"), SystemExit(3), KeyError(), KeyboardInterrupt()]
PLACES = (
    "annotators skill_selector skills candidate_annotators response_selector postprocessors "
    "response_annotators"
).split()


def pipeline_with(place: str, **options: Any) -> Pipeline:
    """Make a pipeline whose service in one place has these options."""
    service = says("odd", None, **options)
    single = place.endswith("selector")
    services: dict[str, Any] = {"skills": [skill()]}
    services[place] = service if single else [*services.get(place, ()), service]
    return Pipeline(**services)


@pytest.mark.parametrize("tasks", [[], ["a", "b"], None, "ab"])
@pytest.mark.parametrize("place", PLACES)
async def test_a_formatter_with_an_odd_number_of_tasks_breaks_no_turn(
    place: str, tasks: Any
) -> None:
    pipeline = pipeline_with(place, formatter=lambda state: tasks, fan_out=True)
    assert await Talk(pipeline, deadline=60).say() == "hello"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("key", ["formatter", "response_formatter"])
@pytest.mark.parametrize("place", PLACES)
async def test_an_exception_of_a_formatter_is_its_services_failure(
    place: str, key: str, fault: BaseException
) -> None:
    def raises(payload: Any) -> Any:
        raise fault

    turn = await Talk(pipeline_with(place, **{key: raises}), deadline=60).turn()
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn)["odd"] == "failed"


@pytest.mark.parametrize("payload", [float("nan"), object(), {1: 2}, "\ud800"])
async def test_a_formatter_gives_only_json(payload: Any) -> None:
    pipeline = pipeline_with("annotators", formatter=lambda state: payload)
    turn = await Talk(pipeline).turn()
    assert errors(turn)["odd"]


async def test_a_formatter_may_give_a_dialog_that_is_larger_and_deeper_than_a_reply() -> None:
    deep: Any = "bottom"
    for _ in range(63):
        deep = [deep]
    annotators = [says("deep", deep), says("large", "x" * 900_000), says("larger", "x" * 900_000)]
    chat = says("chat", hypothesis(), formatter=lambda state: state)
    assert await Talk(Pipeline(annotators=annotators, skills=[chat])).say() == "hello"


async def test_a_reply_in_a_shape_that_a_formatter_does_not_expect_is_a_failure() -> None:
    chat = says("chat", "hello", response_formatter="ner_formatter_out")
    assert await Talk(Pipeline(skills=[chat])).say() == FALLBACK


def test_an_unknown_formatter_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ConfigError, match="base_last_utterances_formatter_in"):
        Talk(Pipeline(skills=[says("chat", None, formatter="unknown")]))
