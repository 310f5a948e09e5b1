"""The ledger: what has become of each service, and what may happen next."""

from collections.abc import Callable
from typing import Any

import pytest

from prolocutor.errors import ServiceLate
from prolocutor.pipeline.ledger import Due, Ledger, LedgerEntry
from prolocutor.pipeline.prepared import PreparedPipeline, StageDeadlines
from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.pipeline.talk import says

Step = Callable[[Ledger], Any]
"""One event in the life of a ledger."""


class Silent:
    """A connector that nothing is sent by."""

    async def send(self, requests: Any) -> Any:
        raise AssertionError("a ledger asks nobody")

    async def aclose(self) -> None:
        pass


def ledger(excluded: str | None = None, **stages: Any) -> Ledger:
    """Make the ledger of a turn of this pipeline."""
    prepared = PreparedPipeline(
        Pipeline(**stages),
        connect=lambda service: Silent(),
        resolve=lambda name: str,
        limits=StageDeadlines.divide_deadline(5.0, None),
        fallback="",
        max_attributes=10,
        breaker_changed=lambda service, state: None,
    )
    return Ledger(prepared, {excluded} if excluded else ())


def named(it: Ledger, name: str) -> LedgerEntry:
    return next(entry for entry in it.entries if entry.step.name == name)


def ready(it: Ledger) -> list[str]:
    """Name what may start now, and take it off the list."""
    names = [entry.step.name for entry in it.ready]
    it.ready.clear()
    return names


def due(it: Ledger) -> list[Due]:
    """Return what the turn has to do now, and take it off the list."""
    dues = list(it.due)
    it.due.clear()
    return dues


def settles(name: str, outcome: Any = "done") -> Step:
    return lambda it: it.settle(named(it, name), outcome, 1.0)


def asks(name: str) -> Step:
    return lambda it: it.record_asked(named(it, name), 0.5, 1)


def enters(name: str) -> Step:
    return lambda it: it.may_ask(named(it, name), 0.5)


def selects(*names: str) -> Step:
    return lambda it: it.select(names)


def closes(it: Ledger) -> None:
    it.close(1.0)


def annotates(name: str, outcome: Any = "done") -> Step:
    def step(it: Ledger) -> None:
        it.record_annotated(named(it, name), it.waves[-1], outcome)

    return step


def steps(*names: str, **after: Any) -> list[Service]:
    return [says(name, None, **after) for name in names]


CHAIN: dict[str, Any] = {
    "annotators": steps("a", "b"),
    "skill_selector": says("s", None),
    "skills": steps("x", "y"),
    "candidate_annotators": steps("c"),
    "response_selector": says("r", None),
    "postprocessors": steps("p"),
}


@pytest.mark.parametrize(
    ("events", "expected_ready", "expected_due"),
    [
        ([], ["a", "b"], []),
        ([settles("a")], [], []),
        ([settles("a"), settles("b", "failed")], ["s"], []),
        ([settles("a"), settles("b", "late"), settles("b")], ["s"], []),
        ([settles("s")], ["x", "y"], [Due.SELECT]),
        ([selects("x", "y"), settles("x")], [], [Due.LOOK]),
        (
            [selects("x"), settles("x")],
            [],
            [Due.ANNOTATE, Due.LOOK],
        ),
        ([selects("x"), closes, settles("x")], [], [Due.ANNOTATE, Due.ANNOTATE]),
        ([settles("r")], [], [Due.REPLY]),
        ([settles("r"), lambda it: it.release_after_reply()], ["p"], [Due.REPLY]),
    ],
)
def test_settled_services_release_their_successors(
    events: list[Step], expected_ready: list[str], expected_due: list[Due]
) -> None:
    it = ledger(**CHAIN)
    if events:
        ready(it)
    for event in events:
        event(it)
    assert ready(it) == expected_ready
    assert due(it) == expected_due


@pytest.mark.parametrize(
    ("events", "standing", "outcome"),
    [
        ([], "waiting", None),
        ([enters("x")], "waiting", None),
        ([selects("y"), enters("x")], "held", None),
        ([selects("y"), enters("x"), selects("x")], "waiting", None),
        ([selects("y"), enters("x"), closes], "settled", "skipped"),
        ([selects("y"), closes, enters("x")], "settled", "skipped"),
        ([enters("x"), asks("x")], "asked", None),
        ([asks("x"), settles("x", "late")], "settled", "late"),
        ([asks("x"), settles("x", "late"), settles("x")], "settled", "late"),
        ([asks("x"), lambda it: it.stop(9.0)], "settled", "skipped"),
    ],
)
def test_where_a_skill_stands(events: list[Step], standing: str, outcome: str | None) -> None:
    it = ledger(**CHAIN)
    for event in events:
        event(it)
    assert named(it, "x").standing == standing
    assert named(it, "x").outcome == outcome


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([], None),
        ([closes], "skipped"),
        ([selects("x"), settles("x"), closes], None),
        ([selects("x"), settles("x"), annotates("c"), closes], "done"),
        ([selects("x"), settles("x"), annotates("c", "late"), closes], "late"),
        ([selects("x"), settles("x"), annotates("c", "late")], None),
        (
            [
                selects("x"),
                settles("x"),
                annotates("c", "late"),
                selects("y"),
                settles("y"),
                annotates("c"),
                closes,
            ],
            "done",
        ),
    ],
)
def test_a_candidate_annotator_settles_with_the_last_wave(
    events: list[Step], outcome: str | None
) -> None:
    it = ledger(**CHAIN)
    for event in [settles("a"), settles("b"), settles("s"), *events]:
        event(it)
    while it.next_annotation(2.0):
        pass
    assert named(it, "c").outcome == outcome


def test_a_candidate_annotators_failure_in_a_wave_stays_on_record() -> None:
    it, late = ledger(**CHAIN), ServiceLate("no answer in time")
    for event in [settles("a"), settles("b"), settles("s"), selects("x"), settles("x")]:
        event(it)
    it.record_annotated(named(it, "c"), it.waves[-1], "late", late)
    for event in [selects("y"), settles("y"), annotates("c"), closes]:
        event(it)
    while it.next_annotation(2.0):
        pass
    assert named(it, "c").outcome == "done"
    assert named(it, "c").error == late


def test_a_candidate_annotator_is_called_once_for_each_complete_wave() -> None:
    it = ledger(skills=steps("x", "y"), candidate_annotators=steps("c"))
    it.select(["x", "y"])
    settles("x")(it)
    assert it.next_annotation(1.0) is None
    settles("y")(it)
    found = it.next_annotation(1.0)
    assert found is not None
    assert found[0].step.name == "c"
    assert found[1].skills == ["x", "y"]
    assert it.next_annotation(1.0) is None


def test_candidate_annotators_follow_each_other_in_each_wave() -> None:
    it = ledger(
        skills=steps("x"),
        candidate_annotators=[says("c", None), says("d", None, requires=["c"])],
    )
    it.select(["x"])
    settles("x")(it)
    found = it.next_annotation(1.0)
    assert found is not None
    assert it.next_annotation(1.0) is None
    it.record_annotated(found[0], found[1], "failed")
    second = it.next_annotation(1.0)
    assert second is not None
    assert second[0].step.name == "d"
    assert it.is_blocked(*second)


def test_a_skill_that_was_asked_in_vain_is_named_at_the_end() -> None:
    it = ledger(**{**CHAIN, "skills": [*steps("early", after=[]), *steps("x")]})
    asks("early")(it)
    settles("early")(it)
    it.select(["x"])
    assert [entry.step.name for entry in it.close(1.0)] == ["early"]


def test_a_skill_that_settled_before_it_was_selected_makes_the_turn_look_at_once() -> None:
    it = ledger(**{**CHAIN, "skills": [*steps("early", after=[]), *steps("x")]})
    asks("early")(it)
    settles("early")(it)
    due(it)
    it.select(["early"])
    assert due(it) == [Due.ANNOTATE, Due.LOOK]
    assert it.running == 0
    assert it.settled_skills() == ["early"]


def test_an_excluded_skill_is_never_asked() -> None:
    it = ledger("x", **CHAIN)
    it.select(["x", "y"])
    assert not it.may_ask(named(it, "x"), 1.0)
    assert named(it, "x").outcome == "skipped"
    assert [wave.skills for wave in it.waves] == [["y"]]


def test_held_skills_that_others_wait_for_are_skipped_where_nothing_runs() -> None:
    it = ledger(
        skill_selector=says("s", None), skills=[says("x", None), says("y", None, after=["x"])]
    )
    ready(it)
    it.select(["y"])
    it.may_ask(named(it, "x"), 1.0)
    assert it.release_held(1.0)
    assert named(it, "x").outcome == "skipped"
    assert ready(it) == ["y"]
    assert not it.release_held(1.0)


def test_a_service_whose_requirement_is_not_done_lacks_it() -> None:
    it = ledger(annotators=[says("a", None), says("b", None, requires=["a"])], skills=steps("x"))
    assert it.lacks_required(named(it, "b"))
    settles("a", "failed")(it)
    assert it.lacks_required(named(it, "b"))


def test_at_the_end_all_is_settled_and_nothing_due() -> None:
    it = ledger(**CHAIN)
    settles("a")(it)
    it.stop(9.0)
    assert it.unsettled == 0
    assert ready(it) == []
    assert due(it) == []
    assert [entry.outcome for entry in it.entries] == ["done"] + ["skipped"] * 7
    assert isinstance(named(it, "p").error, ServiceLate)
