"""The simulation of hints: people with noise, the rules that read them, and the same each time."""

import asyncio
import random

import msgspec
import pytest

from prolocutor.cli.main import run
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.hints.turn_hints import HintSettings
from prolocutor.plugins.pairing.measuring.hint_simulation import (
    HintArm,
    HintPlan,
    HintRow,
    arms_of,
    simulate,
)
from prolocutor.plugins.pairing.measuring.simulated_person import SimulatedPerson, reworded
from tests.plugins.pairing.unit.measuring.made import data

HONEST = SimulatedPerson(reject=0.5, repeat=0.5, thank=1.0, mistaken=0.0)
PLAN = HintPlan(
    arms=[HintArm(name="none"), HintArm(name="hints", hints=HintSettings())],
    known=4,
    turns=60,
    seeds=(0,),
    person=HONEST,
)


def rows(plan: HintPlan = PLAN) -> list[HintRow]:
    return asyncio.run(simulate(data(learn=120, test=40, answers=False), plan))


def test_hints_of_people_who_are_honest_say_the_truth_and_the_same_again() -> None:
    none, hinted = rows()

    assert (none.hints["rejected"], none.truthful, none.difference) == (0, None, (0.0, 0.0, 0.0))
    assert hinted.hints["thanked"] > 20
    assert hinted.truthful is not None
    assert hinted.truthful > 0.9
    assert hinted.difference[1] <= hinted.difference[0] <= hinted.difference[2]
    assert rows() == [none, hinted]


def test_the_noise_of_people_is_in_their_hints() -> None:
    noisy = msgspec.structs.replace(HONEST, mistaken=0.5)
    _, hinted = rows(msgspec.structs.replace(PLAN, person=noisy))

    assert hinted.truthful is not None
    assert hinted.truthful < 0.9


def test_too_few_questions_are_said() -> None:
    with pytest.raises(BadInput, match="turns need more"):
        rows(msgspec.structs.replace(PLAN, turns=1000))


def test_a_question_in_other_words_keeps_what_it_is_about() -> None:
    chance = random.Random(1)
    texts = {reworded("show me recipes with rice", chance) for _ in range(40)}
    assert len(texts) > 5
    assert all("rice" in text for text in texts)


def test_each_kind_is_measured_alone_beside_thumbs() -> None:
    names = [arm.name for arm in arms_of([0.25], 0.05)]
    assert names == [
        "nothing learned",
        "hints, as by default",
        "hints, 0.25 each",
        "again alone",
        "rejected alone",
        "thanked alone",
        "kept alone",
        "thumbs on 5% of the turns",
        "both",
        "thumbs on all turns",
    ]


@pytest.mark.parametrize("wrong", [["--seeds", "a"], ["--weights", "0.5"], ["--reject", "0.9"]])
def test_what_cannot_be_simulated_is_refused(wrong: list[str], tmp_path: object) -> None:
    file = f"{tmp_path}/questions.csv"
    with open(file, "w", encoding="utf-8") as out:
        out.write("text,agents\nhow long does green tea take?,tea\nmy eggs are too soft,eggs\n")
    assert run(["evaluate", "hints", "--data", f"csv:{file}", *wrong]) in (1, 2)
