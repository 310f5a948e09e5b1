"""Services that are switched off, and services that are talked to alone."""

from typing import Any

import pytest

from prolocutor.contracts.observer import ServiceRecord
from prolocutor.contracts.selection import Selection
from prolocutor.errors import BadInput, NotFound, ServiceRaised, SwitchedOff
from prolocutor.pipeline.guard import CircuitBreaker
from prolocutor.plan.pipeline import Breaker, Pipeline, Service, Stage
from tests.unit.assistant.talks import assistant
from tests.unit.pipeline.talk import FALLBACK, Talk, asked, hypothesis, picks, says, skill

BY_EVE = "switched off by eve"


def record(turn: Any, name: str) -> ServiceRecord:
    (found,) = [one for one in turn.records() if one.name == name]
    return found


def off(talk: Talk, *names: str) -> None:
    for name in names:
        talk.engine.find_step(name).switch(BY_EVE)


async def test_a_service_switched_off_is_skipped_with_the_reason_and_so_are_its_requirers() -> None:
    note, other = says("note", {"n": 1}), skill("other", "from other", 0.1)
    needy = Service("needy", skill("x").target, after=["note"], requires=["note"])
    talk = Talk(Pipeline(annotators=[note], skills=[needy, other]))
    off(talk, "note")
    turn = await talk.turn()
    talk.engine.find_step("note").switch(None)
    again = await talk.turn()

    assert turn.draft.final_reply().text == "from other"
    shown = [(one.outcome, one.code, one.error) for one in turn.records()[:2]]
    assert shown == [
        ("skipped", "switched_off", BY_EVE),
        ("skipped", "switched_off", f"requires note: {BY_EVE}"),
    ]
    assert record(turn, "needy").calls == 0
    assert [one.outcome for one in again.records()] == ["done"] * 3
    assert len(asked(note)) == 1


@pytest.mark.parametrize("name", ["a", "manners", "ranking", "polish", "last"])
async def test_a_service_of_any_stage_can_be_off(name: str) -> None:
    pipeline = Pipeline(
        skills=[skill("a", "hello", 0.9), skill("b", "bye", 0.4)],
        candidate_annotators=[says("manners", 1)],
        response_selector=Service("ranking", picks(skill_name="a", text="hello").target),
        postprocessors=[says("polish", "HELLO")],
        last_chance=says("last", "last words"),
    )
    talk = Talk(pipeline)
    off(talk, name)
    said = await talk.say()

    # without the response selector the most confident hypothesis wins; the last chance is not asked
    assert said == ("hello" if name == "polish" else "HELLO")
    services: dict[str, Service] = {service.name: service for _, service in pipeline.services()}
    if name in services:
        assert asked(services[name]) == []


async def test_a_selector_that_names_one_that_is_off_is_asked_for_more() -> None:
    def choose(request: Any) -> Selection:
        return Selection(["a"], lambda hypotheses, seconds: [] if hypotheses else ["b"])

    pipeline = Pipeline(
        skill_selector=Service("choose", choose), skills=[skill("a", "A"), skill("b", "B")]
    )
    talk = Talk(pipeline)
    off(talk, "a")

    assert await talk.say() == "B"


async def test_nobody_left_means_the_fallback_and_calls_from_outside_are_refused() -> None:
    talk = Talk(Pipeline(skills=[skill("a")]))
    off(talk, "a")
    said = await talk.say()
    with pytest.raises(SwitchedOff, match=BY_EVE):
        await talk.engine.call("a", {"text": "hi"}, timeout=1.0)

    assert said == FALLBACK


def test_an_open_breaker_can_be_let_try_at_once_and_only_once() -> None:
    states: list[str] = []
    it = CircuitBreaker(
        "it", Breaker(failures=1, cooldown=1e9), lambda _, state: states.append(state)
    )
    it.let_try()
    it.record_failure()
    it.let_try()
    it.record_undecided()  # a call from before: it is not the one that tries
    it.pass_through()
    with pytest.raises(Exception, match="left alone"):
        it.pass_through()
    it.record_failure()
    it.let_try()
    it.pass_through()
    it.record_success()

    assert states == ["open", "half-open", "open", "half-open", "closed"]


async def test_an_agent_alone_answers_while_it_is_off_and_its_breaker_open() -> None:
    chat = says("chat", hypothesis("fine"), ValueError("no"), breaker=Breaker(failures=1))
    async with assistant(chat, Service("inline", lambda r: [], inline=True)) as it:
        step = it.engine.find_step("chat")
        step.guard.breaker.trip()
        await it.switches.switch(step, on=False, by="eve")
        answer = await it.alone.ask("hi", "chat")
        broken = await it.alone.ask("hi", "chat")
        declined = await it.alone.ask("hi", "inline", stage=Stage.SKILL)
        in_flight = step.guard.in_flight

        with pytest.raises(NotFound):
            await it.alone.ask("hi", "nobody")
        with pytest.raises(NotFound):
            await it.alone.ask("hi", "chat", dialog_id="0" * 32)
        stored = await it.store.dialog_ids()

    assert answer.hypotheses == [hypothesis("fine")]
    assert isinstance(broken.error, ServiceRaised)
    assert declined.hypotheses == []
    assert declined.error is None
    assert stored == []
    assert in_flight == 0
    assert step.guard.breaker.state == "open"
    assert len(step.guard.breaker.failures) == 1


async def test_an_agent_alone_sees_the_dialog_but_leaves_no_trace_in_it() -> None:
    chat = says("chat", hypothesis("one", human_attributes={"seen": 1}), hypothesis("two"))
    pipeline = Pipeline(annotators=[says("note", 1)], skills=[chat])
    async with assistant(pipeline=pipeline) as it:
        id_ = (await it.turn("first", user="ann")).dialog_id
        before = await it.store.dialog(id_)
        answer = await it.alone.ask("then?", "chat", dialog_id=id_)
        with pytest.raises(BadInput, match="note answers no person"):
            await it.alone.ask("hi", "note")

        assert await it.store.dialog(id_) == before
    (state,) = asked(chat)[1:]
    assert [utterance["text"] for utterance in state["utterances"]] == ["first", "one", "then?"]
    assert state["human"]["attributes"] == {"seen": 1}
    assert [one["text"] for one in answer.hypotheses] == ["two"]
