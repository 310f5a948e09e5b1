"""A service starts the moment its own predecessors have settled; arrival never shows."""

import asyncio
import gc
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.dialog import plain
from prolocutor.pipeline.turn import Turn
from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.pipeline.talk import (
    PATIENCE,
    Gate,
    Talk,
    asked,
    hypothesis,
    outcomes,
    says,
    settle_down,
    skill,
)

Plan = list[Service]


class Stage:
    """A turn whose services are let through one by one."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.talk = Talk(pipeline, deadline=60)
        self.gates: dict[str, Gate] = {
            service.name: service.target
            for _, service in pipeline.services()
            if isinstance(service.target, Gate)
        }
        self.turn: asyncio.Task[Turn] | None = None

    async def __aenter__(self) -> "Stage":
        self.turn = asyncio.create_task(self.talk.turn())
        await settle_down()
        return self

    async def __aexit__(self, *_: object) -> None:
        for gate in self.gates.values():
            gate.opened.set()
        await self.end()

    @property
    def started(self) -> set[str]:
        return {name for name, gate in self.gates.items() if gate.started.is_set()}

    async def let(self, *names: str) -> None:
        for name in names:
            self.gates[name].opened.set()
        await settle_down()

    async def end(self) -> Turn:
        assert self.turn is not None
        async with asyncio.timeout(PATIENCE):
            return await self.turn


def gate(name: str, reply: Any = None, **options: Any) -> Service:
    return Service(name, Gate(reply), **{"timeout": 60.0, **options})


def speaker(name: str, **options: Any) -> Service:
    return gate(name, [hypothesis(name)], **options)


async def test_all_of_a_stage_starts_at_once() -> None:
    async with Stage(Pipeline(annotators=[gate("a"), gate("b")], skills=[speaker("s")])) as stage:
        assert stage.started == {"a", "b"}


async def test_a_stage_starts_when_all_of_the_one_before_has_settled() -> None:
    async with Stage(Pipeline(annotators=[gate("a"), gate("b")], skills=[speaker("s")])) as stage:
        await stage.let("b")
        assert "s" not in stage.started
        await stage.let("a")
        assert "s" in stage.started


async def test_who_waits_for_one_does_not_wait_for_its_neighbours() -> None:
    pipeline = Pipeline(
        annotators=[gate("a"), gate("slow")],
        skills=[speaker("quick", after=["a"]), speaker("patient")],
    )
    async with Stage(pipeline) as stage:
        await stage.let("a")
        assert stage.started == {"a", "slow", "quick"}


async def test_who_waits_for_nobody_starts_at_once() -> None:
    pipeline = Pipeline(annotators=[gate("a")], skills=[speaker("s", after=[])])
    async with Stage(pipeline) as stage:
        assert stage.started == {"a", "s"}


async def test_an_empty_stage_is_passed_over() -> None:
    pipeline = Pipeline(
        annotators=[gate("a")],
        skills=[speaker("s")],
        response_selector=gate("r", {"skill_name": "s", "text": "s", "confidence": 1}),
        response_annotators=[gate("p")],
    )
    async with Stage(pipeline) as stage:
        for name in ("a", "s", "r", "p"):
            assert name in stage.started
            await stage.let(name)


async def test_after_may_name_a_stage() -> None:
    pipeline = Pipeline(
        annotators=[gate("a"), gate("b")],
        skill_selector=gate("selector", ["s"], after=[]),
        skills=[speaker("s", after=["annotators"])],
    )
    async with Stage(pipeline) as stage:
        await stage.let("selector", "a")
        assert "s" not in stage.started
        await stage.let("b")
        assert "s" in stage.started


async def test_a_skill_that_was_not_selected_after_all_says_nothing() -> None:
    pipeline = Pipeline(
        skill_selector=says("selector", ["chosen"]),
        skills=[says("eager", hypothesis("eager", 1.0), after=[]), skill("chosen", "chosen", 0.1)],
    )
    turn = await Talk(pipeline).turn()
    assert [one["text"] for one in turn.draft.hypotheses()] == ["chosen"]


async def test_a_skill_that_was_not_selected_after_all_is_cancelled() -> None:
    pipeline = Pipeline(
        skill_selector=gate("selector", ["chosen"]),
        skills=[speaker("eager", after=[]), skill("chosen")],
    )
    async with Stage(pipeline) as stage:
        await stage.let("selector")
        assert stage.gates["eager"].cancelled == 1
        assert outcomes(await stage.end())["eager"] == "skipped"


async def test_after_waits_for_any_outcome() -> None:
    pipeline = Pipeline(annotators=[says("a", ValueError("no"))], skills=[skill()])
    assert await Talk(pipeline).say() == "hello"


async def test_requires_asks_for_done() -> None:
    unasked = says("b", None, after=[], requires=["a"])
    pipeline = Pipeline(annotators=[says("a", ValueError("no")), unasked], skills=[skill()])
    turn = await Talk(pipeline).turn()
    assert outcomes(turn) == {"a": "failed", "b": "skipped", "chat": "done"}
    assert asked(unasked) == []


async def test_who_requires_a_skipped_one_is_skipped_too() -> None:
    pipeline = Pipeline(
        annotators=[
            says("a", ValueError("no")),
            says("b", None, after=[], requires=["a"]),
            says("c", None, after=[], requires=["b"]),
        ],
        skills=[skill()],
    )
    turn = await Talk(pipeline).turn()
    assert outcomes(turn)["c"] == "skipped"


async def test_a_required_service_is_waited_for() -> None:
    pipeline = Pipeline(annotators=[gate("a"), gate("b", requires=["a"])], skills=[speaker("s")])
    async with Stage(pipeline) as stage:
        assert stage.started == {"a"}
        await stage.let("a")
        assert stage.started == {"a", "b"}


async def test_all_annotators_failing_stops_nobody() -> None:
    annotators = [says("a", ValueError("no")), says("b", ValueError("no"))]
    assert await Talk(Pipeline(annotators=annotators, skills=[skill()])).say() == "hello"


# -- random plans against a reference ---------------------------------------------------------


class Reference:
    """What has to be true of a plan of annotators and skills, told as simply as possible."""

    def __init__(self, annotators: Plan, skills: Plan, failing: set[str]) -> None:
        self.services = [*annotators, *skills]
        self.failing = failing
        self.outcomes: dict[str, str] = {}
        self.started: set[str] = set()
        self.waits: dict[str, set[str]] = {}
        stage_before = {a.name: [] for a in annotators} | {s.name: annotators for s in skills}
        for service in self.services:
            after = service.after
            if after is None:
                after = [one.name for one in stage_before[service.name]]
            self.waits[service.name] = {*after, *service.requires}
        self.advance()

    def advance(self) -> None:
        for service in self.services:
            name = service.name
            if name in self.started or name in self.outcomes:
                continue
            if not self.waits[name] <= self.outcomes.keys():
                continue
            if all(self.outcomes[other] == "done" for other in service.requires):
                self.started.add(name)
            else:
                self.outcomes[name] = "skipped"
                self.advance()

    def arrive(self, name: str) -> None:
        self.outcomes[name] = "failed" if name in self.failing else "done"
        self.advance()

    @property
    def running(self) -> list[str]:
        return sorted(self.started - self.outcomes.keys())


@st.composite
def plans(draw: st.DrawFn) -> tuple[Plan, Plan, set[str]]:
    names = [f"a{n}" for n in range(draw(st.integers(0, 5)))]
    skills = [f"s{n}" for n in range(draw(st.integers(1, 4)))]
    order = [*names, *skills]
    failing = set(draw(st.lists(st.sampled_from(order))))
    made: list[Service] = []
    for position, name in enumerate(order):
        earlier = order[:position]
        some: st.SearchStrategy[Sequence[str]] = (
            st.lists(st.sampled_from(earlier), unique=True, max_size=3) if earlier else st.just([])
        )
        reply: Any = None if name in failing else [hypothesis(f"says {name}")]
        if name in failing and name.startswith("a"):
            reply = float("nan")
        made.append(
            gate(name, reply, after=draw(st.none() | some), requires=draw(st.just(()) | some))
        )
    declared = draw(st.permutations(made[: len(names)])), draw(st.permutations(made[len(names) :]))
    return list(declared[0]), list(declared[1]), failing


def renewed(plan: Plan) -> Plan:
    """Make the same services with gates that are shut again."""
    return [
        gate(one.name, one.target.reply, after=one.after, requires=one.requires)  # type: ignore[union-attr]
        for one in plan
    ]


async def take(annotators: Plan, skills: Plan, failing: set[str], seed: int) -> tuple[Any, ...]:
    """Take a turn whose replies arrive in a random order, watched at every arrival."""
    arrival = random.Random(seed)
    expected = Reference(annotators, skills, failing)
    pipeline = Pipeline(annotators=renewed(annotators), skills=renewed(skills))
    async with Stage(pipeline) as stage:
        while expected.running:
            assert stage.started == expected.started
            name = arrival.choice(expected.running)
            expected.arrive(name)
            await stage.let(name)
        turn = await stage.end()
    assert outcomes(turn) == expected.outcomes
    done = [name for name, outcome in expected.outcomes.items() if outcome == "done"]
    annotations, hypotheses = turn.draft.annotations(), turn.draft.hypotheses()
    assert list(annotations) == [
        annotator.name for annotator in annotators if annotator.name in done
    ]
    assert [one["skill_name"] for one in hypotheses] == [s.name for s in skills if s.name in done]
    return annotations, hypotheses, turn.draft.final_reply().text


@settings(max_examples=60, deadline=None)
@given(plans(), st.integers(0, 99), st.integers(0, 99))
async def test_random_plans_run_as_the_reference_whatever_the_order_of_arrival(
    plan: tuple[Plan, Plan, set[str]], one: int, other: int
) -> None:
    annotators, skills, failing = plan
    first = await take(annotators, skills, failing, one)
    second = await take(annotators, skills, failing, other)
    assert first == second


@pytest.mark.parametrize("seed", range(20))
async def test_a_whole_pipeline_gives_the_same_bytes_whatever_the_order_of_arrival(
    seed: int,
) -> None:
    def pipeline() -> Pipeline:
        return Pipeline(
            annotators=[gate("a", 1), gate("b", {"b": 2}), gate("c", [3])],
            skills=[speaker("x"), speaker("y"), speaker("z")],
            candidate_annotators=[gate("p", "p"), gate("q", "q")],
            response_selector=gate("r", {"skill_name": "y", "text": "!", "confidence": 1}),
            response_annotators=[gate("v", 1), gate("w", 2)],
        )

    bodies = []
    for order in (random.Random(seed), random.Random(-1)):
        async with Stage(pipeline()) as stage:
            while not (stage.turn and stage.turn.done()):
                waiting = sorted(
                    name for name in stage.started if not stage.gates[name].opened.is_set()
                )
                await stage.let(order.choice(waiting))
            turn = await stage.end()
        bodies.append(
            (
                turn.draft.annotations(),
                turn.draft.hypotheses(),
                plain.decode(turn.view.reply_state())["annotations"],
            )
        )
    assert str(bodies[0]) == str(bodies[1])


async def test_services_that_wait_leave_nothing_to_the_garbage_collector() -> None:
    async def later(request: Any) -> Any:
        await asyncio.sleep(0)
        return [hypothesis()]

    talk = Talk(Pipeline(annotators=[Service("a", later)], skills=[Service("s", later)]))
    await talk.turn()
    gc.collect()
    gc.disable()
    try:
        await talk.turn()
        await settle_down()
        assert gc.collect() == 0
    finally:
        gc.enable()


async def test_an_annotator_may_wait_for_a_skill() -> None:
    late = says("late", "noted", after=["chat"])
    chat = says("chat", [hypothesis()], after=["early"])

    turn = await Talk(Pipeline(annotators=[says("early", 1), late], skills=[chat])).turn()

    assert turn.draft.annotations() == {"early": 1, "late": "noted"}
