"""Functions that take and return the public types are an assistant's services."""

import asyncio
import functools
import re
from pathlib import Path
from typing import Any

import pytest

from prolocutor import (
    AskAnswer,
    Assistant,
    Button,
    Card,
    Choice,
    Hypothesis,
    Pipeline,
    ScheduledMessage,
    SelectorReply,
    Service,
    Text,
    TurnRequest,
    service,
    skill,
)
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Skill, Stage


def parrot(turn: TurnRequest) -> Hypothesis:
    return Hypothesis(turn.text, 0.5)


@skill(name="shop", timeout=1.0, card=Card(description="Sells.", examples=["buy"]))
async def sells(turn: TurnRequest) -> list[Hypothesis]:
    if turn.answer is not None:
        return [Hypothesis(f"You get {turn.answer['value']}.", 1.0)]
    if turn.text != "buy":
        return []
    messages = [Text("How many?"), Button("Two", {"n": 2})]
    return [Hypothesis("", 0.9, messages=messages, ask="number", bot_attributes={"asked": True})]


def length(turn: TurnRequest) -> dict[str, int]:
    return {"letters": len(turn.text)}


@service(inline=True)
def chooses(turn: TurnRequest) -> SelectorReply:
    assert turn.annotations["length"]["letters"] == len(turn.text)
    return SelectorReply.choose(max(turn.hypotheses, key=lambda one: one.confidence))


PIPELINE = Pipeline(annotators=[length], skills=[parrot, sells], response_selector=chooses)


async def test_typed_functions_answer_a_turn() -> None:
    async with Assistant(PIPELINE, store="memory:") as assistant:
        asked = await assistant.turn("buy", user="ann")
        answered = await assistant.turn("five", user="ann")
        repeated = await assistant.turn("hello", user="ann")

    assert asked.reply.text == "How many?"
    assert asked.reply.active_skill == "shop"
    assert asked.ask == "number"
    assert asked.reply.attributes["messages"][1]["json"] == {"n": 2, "skill": "shop"}
    assert asked.reply.user.attributes == {"asked": True}
    assert answered.reply.text == "You get 5."
    assert repeated.reply.text == "hello"
    assert repeated.reply.active_skill == "parrot"


async def test_a_typed_skill_schedules_and_offers_choices() -> None:
    def remind(turn: TurnRequest) -> Hypothesis:
        line = ScheduledMessage(key="tea", in_=3600, messages=[Text("Tea!")])
        return Hypothesis(
            "Which?", 1, messages=[Choice("green"), Choice("black")], ask="choice", schedule=[line]
        )

    async with Assistant(Pipeline(skills=[remind]), store="memory:") as assistant:
        turn = await assistant.turn("tea", user="ann")

    shown = turn.reply.attributes["messages"]
    assert [(one["type"], one.get("idx")) for one in shown] == [
        ("text", None),
        ("choice", 0),
        ("choice", 1),
    ]


async def test_messages_are_sent_unasked() -> None:
    async with Assistant(PIPELINE, store="memory:") as assistant:
        assert await assistant.notify("ann", [Text("Hi."), Button("Buy", "buy")], skill="shop")


async def test_the_other_stages_are_shown_what_they_work_on() -> None:
    shown: list[object] = []

    def routes(turn: TurnRequest) -> list[str]:
        shown.append(turn.bot.attributes)
        return ["parrot"]

    def polite(turn: TurnRequest) -> bool:
        shown.append(turn.reply)
        shown.append(turn.hypothesis)
        return "please" in turn.hypothesis.text

    def shouts(turn: TurnRequest) -> str:
        assert turn.reply is not None
        assert turn.reply == turn.utterances[-1]
        shown.append(turn.preferred)
        return turn.reply.text.upper()

    pipeline = Pipeline(
        skill_selector=routes,
        skills=[parrot],
        candidate_annotators=[polite],
        postprocessors=[shouts],
    )
    async with Assistant(pipeline, store="memory:") as assistant:
        turn = await assistant.turn("tea, please", user="ann")

    assert turn.reply.text == "TEA, PLEASE"
    assert turn.hypotheses[0].annotations == {"polite": True}
    assert shown == [
        {},
        None,
        Hypothesis("tea, please", 0.5, skill_name="parrot", hypothesis_id="parrot.0"),
        None,
    ]


def test_a_function_is_a_service_of_its_name_with_the_settings_that_it_declares() -> None:
    first, second = PIPELINE.services_at(Stage.SKILL)

    assert first == Skill(parrot, name="parrot")
    assert second.name == "shop"
    assert second.timeout == 1.0
    assert second.target == sells
    assert second.card_members == {"description": "Sells.", "examples": ["buy"]}
    assert Service("a", "b:c", card={"manifest": "m.tt"}).card_members == {"manifest": "m.tt"}


class Shop:
    @skill(timeout=1.0)
    def sells(self, turn: TurnRequest) -> Hypothesis:
        return Hypothesis(f"sells {turn.text}", 0.5)


@skill(timeout=1.0)
def whispers(turn: TurnRequest) -> Hypothesis:
    return Hypothesis(turn.text, 0.5)


def shouting(function: Any) -> Any:
    @functools.wraps(function)
    def shouts(turn: TurnRequest) -> Hypothesis:
        return Hypothesis(function(turn).text.upper(), 0.5)

    return shouts


@pytest.mark.parametrize("declare", [skill, service])
async def test_the_parentheses_of_a_decorator_without_settings_may_be_left_out(
    declare: Any,
) -> None:
    @declare
    def bird(turn: TurnRequest) -> Hypothesis:
        return Hypothesis(turn.text, 0.5)

    assert Pipeline(skills=[bird]).services_at(Stage.SKILL) == (Skill(bird, name="bird"),)


@pytest.mark.parametrize(
    ("given", "said"),
    [(Shop().sells, "sells tea"), (shouting(whispers), "TEA")],
    ids=["method", "wrapper"],
)
async def test_a_method_and_a_wrapper_are_called_with_the_settings_of_what_they_wrap(
    given: Any, said: str
) -> None:
    pipeline = Pipeline(skills=[given])
    async with Assistant(pipeline, store="memory:") as assistant:
        reply = await assistant.reply("tea", user="ann")

    assert reply.text == said
    assert pipeline.services_at(Stage.SKILL)[0].timeout == 1.0


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (lambda turn: [], "a function without a name: give it one, as name=..."),
        (functools.partial(parrot), "a partial without a name: give it one, as name=..."),
        (Shop().sells, "a method takes no settings: make a Service of it"),
    ],
    ids=["lambda", "partial", "method"],
)
def test_an_invalid_declaration_is_refused_where_it_stands(declared: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        skill(timeout=1.0)(declared)


@pytest.mark.parametrize("given", [None, [print], {"skills": []}])
def test_an_assistant_without_a_pipeline_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match="an assistant is made of a Pipeline"):
        Assistant(given)


@pytest.mark.parametrize("given", [5, "plain", lambda turn: turn])
def test_a_value_other_than_a_service_is_refused_with_its_stage(given: Any) -> None:
    with pytest.raises(ConfigError, match="skills: expected a Service or a function with a name"):
        Assistant(Pipeline(skills=[given]), store="memory:")


def test_a_skill_can_be_tried_without_an_assistant() -> None:
    assert parrot(TurnRequest.of("hello")) == Hypothesis("hello", 0.5)


async def test_a_typed_skill_of_a_file_is_called_by_its_dotted_name(tmp_path: Path) -> None:
    (tmp_path / "typed_parrot.py").write_text(
        """from __future__ import annotations
from typing import TYPE_CHECKING
from prolocutor import Hypothesis, skill
if TYPE_CHECKING:
    from prolocutor import TurnRequest

@skill(name="parrot", timeout=1.0)
async def parrot(turn: TurnRequest) -> Hypothesis:
    return Hypothesis(turn.text, 0.5)
"""
    )
    file = tmp_path / "assistant.yaml"
    file.write_text("skills: {bird: {call: 'typed_parrot:parrot', timeout: 1}}")

    async with Assistant.from_file(file, store="memory:") as assistant:
        reply = await assistant.reply("hello", user="ann")

    assert reply.text == "hello"
    assert reply.active_skill == "bird"


def test_a_faulty_file_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text("skils: {}")

    with pytest.raises(ConfigError, match=r"skils: unknown key; did you mean 'skills'\?"):
        Assistant.from_file(file)


def test_an_answer_says_whether_it_was_cancelled() -> None:
    turn = TurnRequest.of("never mind", answer=AskAnswer(kind="cancelled"))

    assert turn.answer is not None
    assert turn.answer.cancelled


def test_a_function_with_settings_is_its_own_target() -> None:
    settings: Any = {"name": "parrot", "target": 1}
    with pytest.raises(ConfigError, match="target: the function is the target"):
        skill(**settings)(lambda turn: Hypothesis("hi", 0.5))


@pytest.mark.parametrize("waits", [True, False])
async def test_a_typed_service_reads_the_dialog_as_it_was_when_it_was_asked(waits: bool) -> None:
    seen: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {}

    def read(turn: TurnRequest) -> None:
        first = turn.text, dict(turn.annotations), [one.text for one in turn.hypotheses]
        turn.annotations["mine"] = turn.service  # its own copy
        seen[turn.service] = (*first, dict(turn))

    def typed(name: str, reply: Any) -> Service:
        async def later(turn: TurnRequest) -> Any:
            await asyncio.sleep(0)
            read(turn)
            return reply

        def at_once(turn: TurnRequest) -> Any:
            read(turn)
            return reply

        return Service(name, later) if waits else Service(name, at_once, inline=True)

    pipeline = Pipeline(
        annotators=[typed("a", 1), typed("b", 2)],
        skills=[typed("s", {"text": "hi", "confidence": 0.5})],
        response_selector=typed("r", {"skill_name": "s", "text": "hi", "confidence": 0.5}),
        postprocessors=[typed("p", "ho")],
    )
    async with Assistant(pipeline, store="memory:") as assistant:
        for text in ("one", "two"):
            assert (await assistant.reply(text, user="ann")).text == "ho"
    for name, (text, annotations, hypotheses, whole) in seen.items():
        human = whole["human_utterances"][-1]
        found = {} if name in "ab" else {"a": 1, "b": 2}
        shown = whole.get("hypotheses", [])
        assert (text, annotations) == ("two", found) == (human["text"], human["annotations"])
        assert hypotheses == [one["text"] for one in shown] == (["hi"] if name == "r" else [])
        assert len(whole["utterances"]) == (4 if name == "p" else 3)
