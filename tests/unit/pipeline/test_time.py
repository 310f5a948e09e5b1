"""The reply is out by the deadline, with the best there is."""

import asyncio
from typing import Any

import pytest

from prolocutor.pipeline.prepared import StageDeadlines
from prolocutor.pipeline.turn import Turn
from prolocutor.plan.pipeline import Pipeline, Service, Stage
from tests.unit.pipeline.talk import (
    FALLBACK,
    Gate,
    Talk,
    errors,
    outcomes,
    picks,
    says,
    settle_down,
    skill,
)

DEADLINE = 1.0
SLACK = 10.0
"""What a busy machine may take on top; far less than any time-out of a service here."""


def hangs(name: str, **options: Any) -> Service:
    """Make a service that answers when it is too late to matter."""
    return Service(name, Gate(), **{"timeout": 60.0, **options})


async def take(pipeline: Pipeline, *, deadline: float = DEADLINE, **options: Any) -> Turn:
    loop = asyncio.get_running_loop()
    start = loop.time()
    turn = await Talk(pipeline, deadline=deadline, **options).turn()
    assert loop.time() - start < deadline + SLACK
    await settle_down()
    return turn


def ended(turn: Turn, name: str) -> float:
    [record] = [record for record in turn.records() if record.name == name]
    assert record.ended is not None
    return record.ended


@pytest.mark.parametrize(
    "pipeline",
    [
        Pipeline(annotators=[hangs("odd")], skills=[skill()]),
        Pipeline(skill_selector=hangs("odd"), skills=[skill()]),
        Pipeline(skills=[skill(), hangs("odd")]),
        Pipeline(skills=[skill()], candidate_annotators=[hangs("odd")]),
        Pipeline(skills=[skill()], response_selector=hangs("odd")),
        Pipeline(skills=[skill()], postprocessors=[hangs("odd")]),
        Pipeline(skills=[skill()], response_annotators=[hangs("odd")]),
    ],
)
async def test_a_service_that_hangs_is_late_and_the_reply_is_out(pipeline: Pipeline) -> None:
    turn = await take(pipeline)
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn)["odd"] == "late"


async def test_a_last_chance_that_hangs_is_late_and_the_fallback_is_out() -> None:
    turn = await take(Pipeline(skills=[says("chat", [])], last_chance=hangs("odd")))
    assert turn.draft.final_reply().text == FALLBACK
    assert outcomes(turn)["odd"] == "late"


async def test_everything_hanging_at_once_is_no_worse() -> None:
    turn = await take(
        Pipeline(
            annotators=[hangs("a")],
            skill_selector=hangs("b"),
            skills=[hangs("c")],
            candidate_annotators=[hangs("d")],
            response_selector=[hangs("e"), hangs("f")],
            postprocessors=[hangs("g"), hangs("h")],
            response_annotators=[hangs("i")],
            last_chance=hangs("j"),
        )
    )
    assert turn.draft.final_reply().text == FALLBACK


async def test_every_stage_hanging_in_turn_leaves_time_for_the_next() -> None:
    turn = await take(
        Pipeline(
            annotators=[hangs("a")],
            skill_selector=hangs("b"),
            skills=[skill(), hangs("c")],
            candidate_annotators=[hangs("d")],
            response_selector=hangs("e"),
            postprocessors=[hangs("g"), hangs("h")],
            response_annotators=[hangs("i")],
        ),
        deadline=4.0,
    )
    late = [name for name, outcome in outcomes(turn).items() if outcome == "late"]
    assert turn.draft.final_reply().text == "hello"
    assert late[:5] == ["a", "b", "c", "d", "e"]


async def test_an_annotator_has_half_of_the_time_for_skills() -> None:
    turn = await take(Pipeline(annotators=[hangs("odd")], skills=[skill()]), reserve=0.1)
    assert 0.44 < ended(turn, "odd") < 0.45 + SLACK


async def test_skills_that_run_at_the_reserve_are_cancelled() -> None:
    late = hangs("late")
    turn = await take(Pipeline(skills=[skill(), late], response_selector=picks()), reserve=0.1)
    assert 0.89 < ended(turn, "late") < 0.9 + SLACK
    assert outcomes(turn) == {"chat": "done", "late": "late", "selector": "done"}
    gate: Any = late.target
    assert gate.cancelled == 1


async def test_a_late_response_selector_gives_way_to_the_most_confident() -> None:
    skills = [skill("a", "low", 0.1), skill("b", "high", 0.9)]
    turn = await take(Pipeline(skills=skills, response_selector=hangs("odd")))
    assert turn.draft.final_reply().text == "high"


async def test_a_service_is_late_after_its_own_time_out() -> None:
    turn = await take(Pipeline(skills=[skill(), hangs("odd", timeout=0.02)]), deadline=60)
    assert turn.draft.final_reply().text == "hello"
    assert errors(turn) == {"odd": "no answer in time"}
    assert 0.019 < ended(turn, "odd") < 0.02 + SLACK


async def test_a_service_is_told_how_long_it_has() -> None:
    seen: list[float] = []

    class Told:
        async def send(self, requests: Any) -> Any:
            seen.extend(request.timeout for request in requests)
            raise asyncio.CancelledError

        async def aclose(self) -> None:
            pass

    services = [Service(str(seconds), Told(), timeout=seconds) for seconds in (0.1, 90.0)]
    await take(Pipeline(skills=[skill(), *services]), deadline=8.0)
    assert seen[0] == 0.1
    assert 6.5 < seen[1] <= 7.0


async def test_a_turn_that_starts_too_late_says_the_fallback_at_once() -> None:
    talk = Talk(Pipeline(skills=[skill()]), deadline=0.001, reserve=0.001)
    assert await talk.say() == FALLBACK


def test_the_reserve_is_a_quarter_of_the_deadline_up_to_a_second() -> None:
    assert StageDeadlines.divide_deadline(2.0, None).reserve == 0.5
    assert StageDeadlines.divide_deadline(60.0, None).reserve == 1.0
    assert StageDeadlines.divide_deadline(5.0, 0.2).reserve == 0.2


@pytest.mark.parametrize("deadline", [0.1, 5.0, 60.0])
def test_every_stage_ends_after_the_one_before_and_ahead_of_the_deadline(deadline: float) -> None:
    limits = StageDeadlines.divide_deadline(deadline, None)
    ends = [limits.stage_end(stage) for stage in Stage if stage is not Stage.LAST_CHANCE]
    assert ends == sorted(ends)
    assert max(ends) < deadline
    last_chance = limits.stage_end(Stage.LAST_CHANCE)
    assert limits.stage_end(Stage.RESPONSE_SELECTOR) < last_chance < ends[-1]


async def test_nothing_runs_on_when_a_turn_is_over() -> None:
    late = hangs("late")
    talk = Talk(Pipeline(skills=[skill(), late]), deadline=0.5)
    await talk.turn()
    await settle_down()
    assert len(talk.engine.prepared.strays) == 0
