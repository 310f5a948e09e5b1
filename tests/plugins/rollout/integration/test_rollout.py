"""Services that are tried out in a running assistant: for whom, unseen, judged and stopped."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline, ResponseSelector, Skill, SkillSelector
from prolocutor.contracts.observer import LoggedChoice, TurnRecord
from prolocutor.plan.pipeline import Canary, Shadow
from prolocutor.plugins.rollout.turn_trials import RolloutWatch, TurnTrials
from prolocutor.web.audit_trail import read_acts

SHARE = 0.5


def saying(text: str) -> Any:
    async def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"text": text, "confidence": 0.9}]

    return answer


async def failing(request: dict[str, Any]) -> list[dict[str, Any]]:
    raise RuntimeError("broken")


def old_and_new(new: Any = None, **options: Any) -> list[Skill]:
    options = options or {"canary": Canary(instead_of="old", share=SHARE)}
    return [Skill(saying("old"), name="old"), Skill(new or saying("new"), name="new", **options)]


def watch_of(assistant: Assistant) -> RolloutWatch:
    watch = trials_of(assistant).watch
    assert watch is not None
    return watch


def trials_of(assistant: Assistant) -> TurnTrials:
    trials = assistant.engine.prepared.variants
    assert isinstance(trials, TurnTrials)
    return trials


async def replies(assistant: Assistant, people: Sequence[str]) -> dict[str, str]:
    return {person: (await assistant.reply("hello", user=person)).text for person in people}


PEOPLE = [f"person {n}" for n in range(40)]


async def test_a_person_gets_one_service_and_keeps_it_over_a_restart() -> None:
    first, second = [], []
    for kept in (first, second):
        async with Assistant(Pipeline(skills=old_and_new()), store="memory:") as assistant:
            kept.append(await replies(assistant, PEOPLE))
            kept.append(await replies(assistant, PEOPLE))

    assert first == second
    assert first[0] == first[1]
    assert {*first[0].values()} == {"old", "new"}


async def test_the_record_of_a_turn_has_the_choice_with_its_probability() -> None:
    canary = Canary(instead_of="old", share=0.25)
    async with Assistant(Pipeline(skills=old_and_new(canary=canary)), store="memory:") as assistant:
        records = [(await assistant.turn("hello", user=person)).record for person in PEOPLE]

    expected = {
        "new": [LoggedChoice(service="new", chosen="new", other="old", probability=0.25)],
        "old": [LoggedChoice(service="new", chosen="old", other="new", probability=0.75)],
    }
    found = [record for record in records if isinstance(record, TurnRecord)]
    assert [one.choices for one in found] == [expected[one.active_skill] for one in found]


async def test_a_selector_that_names_the_old_one_has_the_new_one_asked() -> None:
    def choose(request: dict[str, Any]) -> list[str]:
        return ["old"]

    pipeline = Pipeline(
        skill_selector=SkillSelector(choose, name="rules"),
        skills=old_and_new(canary=Canary(instead_of="old", share=1.0)),
    )
    async with Assistant(pipeline, store="memory:") as assistant:
        assert (await assistant.turn("hello", user="ann")).record.asked == ["new"]


async def test_a_response_selector_is_tried_out_in_the_place_of_another() -> None:
    def choosing(name: str) -> Any:
        def choose(request: dict[str, Any]) -> dict[str, Any]:
            best = next(
                hypothesis
                for hypothesis in request["hypotheses"]
                if hypothesis["skill_name"] == name
            )
            return {"skill_name": name, "text": best["text"], "confidence": 1.0}

        return choose

    pipeline = Pipeline(
        skills=[Skill(saying("a"), name="a"), Skill(saying("b"), name="b")],
        response_selector=[
            ResponseSelector(choosing("a"), name="likes_a"),
            ResponseSelector(
                choosing("b"), name="likes_b", canary=Canary(instead_of="likes_a", share=SHARE)
            ),
        ],
    )
    async with Assistant(pipeline, store="memory:") as assistant:
        said = await replies(assistant, PEOPLE)

    assert {*said.values()} == {"a", "b"}


async def test_a_shadow_is_asked_what_the_others_were_and_never_shown() -> None:
    seen: list[dict[str, Any]] = []

    async def shadow(request: dict[str, Any]) -> list[dict[str, Any]]:
        seen.append(request)
        return [{"text": "unseen", "confidence": 1.0, "human_attributes": {"pet": "cat"}}]

    async with Assistant(
        Pipeline(skills=old_and_new(shadow, shadow=True)), store="memory:"
    ) as assistant:
        result = await assistant.turn("hello", user="ann")
        await trials_of(assistant).shadows.wait_until_settled()
        (status,) = await watch_of(assistant).look()

    assert result.reply.text == "old"
    assert result.record.asked == ["old"]
    assert seen[0]["shadow"] is True
    assert [utterance["text"] for utterance in seen[0]["utterances"]] == ["hello"]
    assert status.shadow.asked == 1
    assert status.shadow.done == 1
    assert status.shadow.agreed == 0


async def test_a_shadow_that_hangs_delays_no_turn_and_one_that_fails_breaks_none() -> None:
    async def hanging(request: dict[str, Any]) -> list[dict[str, Any]]:
        await asyncio.Event().wait()
        return []

    skills = [
        Skill(saying("old"), name="old"),
        Skill(hanging, name="hangs", shadow=Shadow(), timeout=60),
        Skill(failing, name="fails", shadow=Shadow()),
    ]
    async with Assistant(Pipeline(skills=skills), store="memory:", deadline=5) as assistant:
        said = await replies(assistant, ["ann"])

    assert said == {"ann": "old"}


async def test_a_shadow_costs_no_more_than_its_cap() -> None:
    skills = old_and_new(shadow=Shadow(calls_per_minute=100, cost_per_day=0.3), card={"price": 0.1})
    async with Assistant(Pipeline(skills=skills), store="memory:") as assistant:
        for person in PEOPLE[:6]:
            await assistant.reply("hello", user=person)
            await trials_of(assistant).shadows.wait_until_settled()
        (status,) = await watch_of(assistant).look()

    assert status.shadow.asked == 3
    assert status.shadow.left_out == 3
    assert status.shadow.cost == pytest.approx(0.3)


async def test_a_service_that_fails_is_stopped_by_itself_and_that_is_in_the_audit() -> None:
    async with Assistant(Pipeline(skills=old_and_new(failing)), store="memory:") as assistant:
        for person in PEOPLE * 2:
            result = await assistant.turn("hello", user=person)
            if result.record.active_skill == "old":
                await assistant.archive.rate(result.record.utt_id, "up", person)
        await watch_of(assistant).look()
        (status,) = await watch_of(assistant).look()
        said = await replies(assistant, PEOPLE)
        acts = await read_acts(assistant.store)

    assert status.state == "stopped"
    assert "less often than old" in status.why
    assert {*said.values()} == {"old"}
    assert [(act.method, act.path) for act in acts] == [("STOP", "rollout/new")]


async def test_a_rating_takes_the_place_of_the_one_before() -> None:
    async with Assistant(Pipeline(skills=old_and_new()), store="memory:") as assistant:
        result = await assistant.turn("hello", user="ann")
        for rating in ("up", "down", "up"):
            await assistant.archive.rate(result.record.utt_id, rating, "ann")
        (status,) = await watch_of(assistant).look()

    arms = status.estimates.new, status.estimates.old
    assert sum(arm.turns for arm in arms) == 1
    assert [arm.mean for arm in arms if arm.turns] == [1.0]


async def test_who_is_deleted_leaves_nothing_in_the_log() -> None:
    async with Assistant(Pipeline(skills=old_and_new()), store="memory:") as assistant:
        result = await assistant.turn("hello", user="ann")
        await assistant.archive.rate(result.record.utt_id, "up", "ann")
        await watch_of(assistant).look()
        await assistant.archive.delete_person("ann")
        (status,) = await watch_of(assistant).look()

    assert status.estimates.new.turns == 0
    assert status.estimates.old.turns == 0


async def test_a_promoted_service_is_for_everybody_and_can_be_stopped_again() -> None:
    async with Assistant(Pipeline(skills=old_and_new()), store="memory:") as assistant:
        desk = watch_of(assistant).desk
        promoted = await desk.decide("new", "promote", "ann")
        everybody = await replies(assistant, PEOPLE)
        stopped = await desk.decide("new", "stop", "ann")
        nobody = await replies(assistant, PEOPLE)

    assert promoted.state == "promoted"
    assert {*everybody.values()} == {"new"}
    assert stopped.state == "stopped"
    assert {*nobody.values()} == {"old"}
