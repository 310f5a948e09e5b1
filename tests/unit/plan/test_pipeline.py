"""What stands at a stage has the type of that stage; what cannot stand there is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import (
    STAGE_TYPES,
    Annotator,
    Call,
    CallOptions,
    CandidateAnnotator,
    LastChance,
    PendingTarget,
    Pipeline,
    Service,
    Skill,
    SkillSelector,
    Stage,
    StageService,
    service,
)
from prolocutor.testing.fake_service import FakeService
from tests.unit.pipeline.talk import skill as named


def answers(request: dict[str, Any]) -> list[dict[str, Any]]:
    return []


def one(**services: Any) -> Any:
    """Return the only service of the only stage beside the skills."""
    pipeline = Pipeline(**{"skills": [answers], **services})
    (stage,) = (stage for stage in Stage if stage.value in services)
    (found,) = pipeline.services_at(stage)
    return found


@pytest.mark.parametrize("stage", Stage)
def test_a_service_or_a_function_becomes_one_of_its_stages_type(stage: Stage) -> None:
    single = stage is Stage.LAST_CHANCE
    kind = STAGE_TYPES[stage]
    for given in (answers, Service("answers", answers), kind(answers)):
        assert one(**{stage.value: given if single else [given]}) == kind(answers, name="answers")


def test_a_service_of_a_stages_type_stays_the_same_object() -> None:
    given = Skill("http://here/", name="there")

    assert one(skills=[given]) is given


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (answers, "answers"),
        ("agents.weather:tell", "tell"),
        (Call("agents:tell", "process"), "tell"),
        ("http://here:80/tell", ""),
        (FakeService(), ""),
        (PendingTarget(), ""),
    ],
)
def test_a_service_is_named_after_its_target(target: Any, name: str) -> None:
    assert Skill(target).name == name
    assert Skill(target, name="other").name == "other"


def test_a_service_has_the_options_of_every_stage_with_their_defaults() -> None:
    given = Service("a", answers)

    for kind in (*STAGE_TYPES.values(), CallOptions):
        for field in msgspec.structs.fields(kind):
            if field.name not in ("name", "target"):
                assert getattr(given, field.name) == field.default
    assert given == Service("a", answers, timeout=2.0)
    assert given != Service("a", answers, timeout=3.0)
    assert repr(Service("a", "m:f", timeout=3.0)) == "Service('a', 'm:f', timeout=3.0)"
    with pytest.raises(AttributeError, match="no option 'fields'"):
        given.fields  # type: ignore[attr-defined]  # noqa: B018


def test_every_option_says_what_it_is() -> None:
    silent = [
        f"{kind.__name__}.{field.name}"
        for kind in STAGE_TYPES.values()
        for field in msgspec.structs.fields(kind)
        if field.name != "target" and "description" not in str(field.type)
    ]

    assert silent == []


@pytest.mark.parametrize(
    ("options", "call"),
    [
        ({}, Call("m:f")),
        ({"wire": "deeppavlov"}, Call("m:f", None, {"wire": "deeppavlov"})),
        ({"inline": True}, Call("m:f", None, {"inline": True})),
        ({"process": True}, Call("m:f", "process")),
        ({"connector": "a2a", "inline": True}, Call("m:f", "a2a", {"inline": True})),
        ({"instead": "m:g"}, Call("m:f", None, {"instead": "m:g"})),
    ],
)
def test_options_of_the_connector_go_to_the_call(options: Any, call: Call) -> None:
    given = Service("a", "m:f", **options)
    placed = one(annotators=[given])

    assert placed.call == call
    assert given.call == call
    assert placed.target == (call if options else "m:f")


def test_a_call_has_the_connector_and_the_options_that_it_says() -> None:
    given = Service("a", Call("http://here/", options={"version": 1}), connector="a2a")

    assert one(annotators=[given]).call == Call("http://here/", "a2a", {"version": 1})


def test_another_target_is_called_in_the_same_way() -> None:
    pending = Skill(Call(PendingTarget(), None, {"wire": "deeppavlov"}), name="a")

    assert pending.calling("http://b/").call == Call("http://b/", None, {"wire": "deeppavlov"})
    assert Skill("http://a/", name="a").calling("http://b/").target == "http://b/"


def test_an_empty_list_of_deeppavlovs_wire_means_all() -> None:
    def means_all(**options: Any) -> bool:
        selector = one(skill_selector=Service("a", "http://here/", **options))
        assert isinstance(selector, SkillSelector)
        return selector.empty_means_all

    assert not means_all()
    assert means_all(wire="deeppavlov")
    assert means_all(empty="all")
    assert not means_all(wire="deeppavlov", empty="nobody")


@pytest.mark.parametrize(
    ("services", "fault"),
    [
        ({"skills": []}, "skills: a pipeline needs at least one skill"),
        ({"skills": [named("a"), named("a")]}, "skills.a: two services are called 'a'"),
        ({"annotators": [answers, answers]}, "annotators.answers: two services are called"),
        ({"skills": [named("")]}, "skills: a service needs a name"),
        ({"skills": [Skill("http://here/")]}, "skills: a service needs a name"),
        ({"skills": [named("a\r\nb")]}, "skills.a\\r\\nb: expected a name of up to 100 letters"),
        ({"skills": [named(" a")]}, "skills. a: expected a name of up to 100 letters"),
        ({"skills": [named("a/b")]}, "skills.a/b: expected a name of up to 100 letters"),
        ({"skills": [named("x" * 101)]}, f"skills.{'x' * 101}: expected a name of up to"),
        ({"skills": [Annotator(answers)]}, "skills.answers: Annotator has no place here"),
        (
            {"annotators": [Service("a", answers, together=True)]},
            "annotators.a.together: only for candidate_annotators",
        ),
        ({"last_chance": Service("a", answers, always=True)}, "last_chance.a.always: only for"),
    ],
)
def test_a_misplaced_option_is_refused_with_its_key(services: Any, fault: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Pipeline(**{"skills": [answers], **services})
    assert str(refused.value).startswith(fault)


def test_options_without_meaning_at_a_stage_are_dropped_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match=r"annotators\.a\.icon: only for skills"):
        found = one(annotators=[Service("a", answers, icon="a.png")])

    assert found == Annotator(answers, name="a")


def test_the_settings_of_a_decorated_function_count_at_any_stage() -> None:
    @service(timeout=1.0, together=True)
    def judges(request: dict[str, Any]) -> list[Any]:
        return []

    assert one(candidate_annotators=[judges]) == CandidateAnnotator(
        judges, name="judges", timeout=1.0, together=True
    )


def test_an_option_that_there_is_not_is_refused_where_it_is_written() -> None:
    with pytest.raises(TypeError, match="no option 'timeouts'; did you mean 'timeout'"):
        service(timeouts=1)(answers)  # type: ignore[call-overload]


def test_a_pipeline_with_other_services_is_checked_again() -> None:
    pipeline = Pipeline(skills=[answers], last_chance=answers)

    changed = msgspec.structs.replace(pipeline, skills=(Service("b", answers),))

    assert changed.services_at(Stage.SKILL) == (Skill(answers, name="b"),)
    assert changed.last_chance == LastChance(answers, name="answers")
    with pytest.raises(ConfigError):
        msgspec.structs.replace(pipeline, skills=())


def test_services_are_changed_at_the_stages_that_are_named() -> None:
    pipeline = Pipeline(
        annotators=[Service("note", answers)],
        skills=[Service("a", answers), Service("b", answers)],
        last_chance=Service("last", answers),
    )

    def hurry(service: StageService) -> StageService:
        return msgspec.structs.replace(service, timeout=0.5)

    skills, every = pipeline.change_services(hurry, Stage.SKILL), pipeline.change_services(hurry)

    def timeouts(of: Pipeline) -> list[float]:
        return [one.timeout for stage in Stage for one in of.services_at(stage)]

    assert sorted(timeouts(skills)) == [0.5, 0.5, 2.0, 2.0]
    assert timeouts(every) == [0.5] * 4
