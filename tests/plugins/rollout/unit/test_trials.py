"""Canaries and shadows of a pipeline: for whom they are, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Canary, Pipeline, ResponseSelector, Shadow, Skill, Stage
from prolocutor.plugins.rollout.trials import Trial, find_trials


def answer(request: object) -> list[dict[str, object]]:
    return []


def skill(name: str, **options: object) -> Skill:
    return Skill(answer, name=name, **options)  # type: ignore[arg-type]


def trial(share: float) -> Trial:
    return Trial(stage=Stage.SKILL, name="new", instead_of="old", share=share)


@given(st.text(max_size=20), st.floats(0, 1), st.floats(0, 1))
def test_who_is_in_at_one_share_is_in_at_every_larger_one(
    user: str, one: float, other: float
) -> None:
    small, large = sorted((one, other))

    assert trial(small).draws(user) <= trial(large).draws(user)


def test_a_share_is_that_of_the_people() -> None:
    drawn = sum(trial(0.1).draws(f"person {n}") for n in range(10_000))

    assert 900 <= drawn <= 1100


def test_people_are_dealt_anew_for_another_trial() -> None:
    other = Trial(stage=Stage.SKILL, name="newer", instead_of="old", share=0.5)
    people = [str(n) for n in range(2000)]

    both = sum(trial(0.5).draws(person) and other.draws(person) for person in people)

    assert 400 <= both <= 600


def test_a_canary_of_a_selector_names_the_skill_that_it_is_about() -> None:
    canary = Canary(agent="new", instead_of="old", share=0.2)
    pipeline = Pipeline(
        skills=[skill("old"), skill("new", shadow=Shadow())],
        response_selector=ResponseSelector(answer, name="best", canary=canary),
    )

    assert find_trials(pipeline) == [
        Trial(stage=Stage.SKILL, name="new", instead_of="old", share=0.2, shadow=Shadow())
    ]


@pytest.mark.parametrize(
    ("skills", "key", "words"),
    [
        ([skill("a", canary=Canary(instead_of="x"))], "skills.a.canary.instead_of", "no other"),
        ([skill("a", canary=Canary(instead_of="a"))], "skills.a.canary.instead_of", "no other"),
        (
            [skill("a"), skill("b", canary=Canary(agent="c", instead_of="a"))],
            "skills.b.canary.agent",
            "no skill is called 'c'",
        ),
        (
            [skill("a"), *(skill(one, canary=Canary(instead_of="a")) for one in "bc")],
            "skills.c.canary.instead_of",
            "another canary",
        ),
        (
            [
                skill("a"),
                skill("b", canary=Canary(instead_of="a")),
                skill("c", canary=Canary(instead_of="b")),
            ],
            "skills.c.canary.instead_of",
            "tried out itself",
        ),
        ([skill("a"), skill("b", shadow=True, rerun=False)], "skills.b.shadow", "acts"),
        (
            [skill("a"), skill("b", shadow=True, card={"manifest": "b.tt"})],
            "skills.b.shadow",
            "without anybody's wish",
        ),
    ],
)  # fmt: skip
def test_a_trial_that_cannot_be_is_refused(skills: list[Skill], key: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        find_trials(Pipeline(skills=skills))

    assert caught.value.key == key
