"""`evaluate`: everything that can be measured from Python, and what is refused."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prolocutor import Assistant, Hypothesis, Pipeline, Service, TurnRequest
from prolocutor.errors import BadData, BadInput, ConfigError, Conflict
from prolocutor.plugins.evaluation import EvaluationResult, evaluate, evaluate_async
from prolocutor.plugins.evaluation.parlai.agents import RepeatLabelAgent

DATA = [
    {"text": "how long does green tea take?", "labels": ["3 minutes"]},
    {"text": "how long does black tea take?", "labels": ["4 minutes"]},
]


def timer(text: str) -> str:
    """Knows green tea alone."""
    return "3 minutes" if "green" in text else "no idea"


async def awaited(text: str) -> str:
    await asyncio.sleep(0)
    return timer(text)


def acting(text: str) -> dict[str, Any]:
    return {"text": timer(text), "text_candidates": [timer(text), "4 minutes"]}


def typed(turn: TurnRequest) -> Hypothesis:
    return Hypothesis(timer(turn.text), 0.9)


class Agent:
    """An agent that remembers what it was told."""

    def __init__(self) -> None:
        self.told = ""

    def observe(self, observation: dict[str, Any]) -> None:
        self.told = observation["text"]

    def act(self) -> dict[str, Any]:
        return {"text": timer(self.told)}


def assistant() -> Assistant:
    def skill(request: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"text": timer(request["human_utterances"][-1]["text"]), "confidence": 0.9}]

    return Assistant(Pipeline(skills=[Service("tea", skill, inline=True)]), store="memory:")


def accuracy(result: EvaluationResult) -> float | None:
    found = result.report.find("accuracy")
    return found and found.value


@pytest.mark.parametrize(
    ("make", "by"),
    [
        (lambda: timer, "timer"),
        (lambda: awaited, "awaited"),
        (lambda: acting, "acting"),
        (lambda: Agent, "Agent"),
        (Agent, "Agent"),
        (assistant, "tea"),
        (lambda: typed, "typed"),
    ],
    ids=["function", "async function", "act", "class", "agent", "assistant", "skill"],
)
def test_a_function_an_agent_and_an_assistant_are_measured_alike(
    make: Callable[[], Any], by: str
) -> None:
    result = evaluate(make(), DATA)

    assert accuracy(result) == 0.5
    assert [(row.answer, row.by, row.error) for row in result.rows] == [
        ("3 minutes", by, None),
        ("no idea", by, None),
    ]
    assert result.report.examples == 2
    assert result.report.episodes == 2
    assert result.folder is None


@pytest.mark.parametrize("subject", [timer, awaited, Agent, "repeat_label"])
def test_several_episodes_at_once_give_the_same(subject: Any) -> None:
    alone, together = evaluate(subject, DATA), evaluate(subject, DATA, concurrency=2)

    assert [row.scores for row in alone.rows] == [row.scores for row in together.rows]


def test_the_calls_of_an_assistant_are_counted() -> None:
    assert [row.calls for row in evaluate(assistant(), DATA).rows] == [1, 1]


async def test_a_started_assistant_is_measured_in_its_event_loop() -> None:
    async with assistant() as started:
        result = await evaluate_async(started, DATA)

        assert accuracy(result) == 0.5
        assert started.ready
        assert started.observers.observers == []


async def test_agents_and_functions_are_measured_in_a_running_event_loop_too() -> None:
    for subject in (timer, awaited, Agent, "repeat_query"):
        assert (await evaluate_async(subject, DATA)).report.examples == 2


def test_what_cannot_be_measured_is_refused_before_it_is_asked(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Assistant is a class: give an assistant"):
        evaluate(Assistant, DATA)
    (tmp_path / "empty.jsonl").touch()
    for nothing in ([], f"jsonl:{tmp_path / 'empty.jsonl'}"):
        with pytest.raises(BadInput, match="holds no example"):
            evaluate(timer, nothing)


def test_a_started_assistant_is_refused_outside_of_its_event_loop() -> None:
    async def started() -> Assistant:
        found = assistant()
        await found.start()
        return found

    loop = asyncio.new_event_loop()
    found = loop.run_until_complete(started())
    try:
        with pytest.raises(BadInput, match="evaluate_async"):
            evaluate(found, DATA)
    finally:
        loop.run_until_complete(found.aclose())
        loop.close()


def test_a_run_in_a_folder_goes_on_from_there(tmp_path: Path) -> None:
    asked: list[str] = []

    def function(text: str) -> str:
        asked.append(text)
        return timer(text)

    evaluate(function, DATA, out=tmp_path / "run", limit=1)
    result = evaluate(function, DATA, out=tmp_path / "run")

    assert asked == [one["text"] for one in DATA]
    assert result.folder == tmp_path / "run"
    assert len(result.rows) == 2
    with pytest.raises(Conflict, match="seed was 42, is now 7"):
        evaluate(function, DATA, out=tmp_path / "run", seed=7)


def test_a_folder_without_an_answer_is_free_for_another_configuration(tmp_path: Path) -> None:
    data, out = tmp_path / "data.jsonl", tmp_path / "run"
    data.write_text("no JSON")
    with pytest.raises(BadData):
        evaluate(timer, f"jsonl:{data}", out=out)

    data.write_text('{"text": "how long does green tea take?", "labels": ["3 minutes"]}')
    result = evaluate(timer, f"jsonl:{data}", out=out)

    assert accuracy(result) == 1.0


def test_what_raises_is_a_row_with_an_error() -> None:
    def broken(text: str) -> str:
        raise LookupError(text)

    result = evaluate(broken, DATA)

    assert result.report.failed == 2
    assert result.rows[0].error == f"LookupError: {DATA[0]['text']}"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"metrics": "no_such_metric"}, "no_such_metric"),
        ({"concurrency": 0}, "concurrency"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"datatype": "train"}, "never ends"),
        ({"subject": 42}, "type int is not an assistant"),
        ({"subject": "no_such_agent"}, "neither an assistant's file"),
        ({"data": None}, "data are KIND:PATH"),
        ({"mutators": "word_reverse"}, "mutators is for data KIND:PATH, not for messages"),
        ({"candidates": "labels"}, "candidates is for data KIND:PATH"),
        ({"data_options": {"a": 1}}, "data_options is for data KIND:PATH"),
        ({"data": ["jsonl:a.jsonl", {"text": "mixed"}]}, "KIND:PATH"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments: dict[str, Any], what: str) -> None:
    given: dict[str, Any] = {"subject": timer, "data": DATA, **arguments}

    with pytest.raises(BadInput, match=what):
        evaluate(given.pop("subject"), given.pop("data"), **given)


def test_an_agent_without_clone_is_refused_where_it_needs_one() -> None:
    with pytest.raises(ConfigError, match="give its class"):
        evaluate(Agent(), DATA, concurrency=2)


def test_a_class_of_our_own_is_known_by_its_module() -> None:
    found = evaluate(RepeatLabelAgent, DATA)

    assert accuracy(found) == 1
