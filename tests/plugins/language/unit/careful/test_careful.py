"""Careful answers: what is noticed and what is not, and whose numbers are given."""

import re
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.language.careful import answers
from prolocutor.plugins.language.careful.answers import answers_from
from prolocutor.plugins.language.careful.helplines import helplines
from prolocutor.plugins.language.careful.topics import notice, patterns

WORDINGS = [
    tuple(line.partition("\t")[::2])
    for line in Path(__file__).with_name("wordings.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def request(topic: object = "self_harm", confidence: object = 1.0, **attributes: Any) -> Any:
    annotation = {"sensitive_topic": topic, "confidence": confidence}
    return {
        "human": {"attributes": attributes},
        "human_utterances": [{"text": "...", "annotations": {"model": annotation}}],
        "bot_utterances": [{"text": "A joke."}],
    }


def text(asked: Any) -> str | None:
    return answers_from().text_for(asked)


@pytest.mark.parametrize(("words", "topic"), WORDINGS)
def test_words_of_danger_are_noticed_and_idioms_are_not(words: str, topic: str) -> None:
    assert (patterns().topic_of(words) or "") == topic


def test_the_topic_counts_in_whatever_clause_it_stands() -> None:
    for words, topic in WORDINGS[:40]:
        if topic:
            assert patterns().topic_of(f"tell me a joke and then {words}, what is 2 + 2?") == topic
            assert patterns().topic_of(f"kill the timer. {words.upper()}") == topic


def test_an_utterance_without_text_touches_no_topic() -> None:
    assert notice({"human_utterances": [{"text": None}]}) == {}


def test_any_annotation_can_name_the_topic() -> None:
    assert "988" in str(text(request(country="us")))
    assert text(request(confidence=0.4)) is None
    assert text(request(confidence="sure")) is None
    assert text(request(topic="weather")) is None
    assert text(request(topic=["self_harm"])) is None


@pytest.mark.parametrize(
    ("attributes", "number"),
    [
        ({"timezone": "Europe/Berlin"}, "0800 111 0 111"),
        ({"timezone": "America/Indiana/Knox"}, "988"),
        ({"timezone": "Europe/Berlin", "country": "FR"}, "3114"),
        ({"timezone": "Europe/Berlin", "country": "BR"}, "findahelpline.com"),
        ({"timezone": 5}, "findahelpline.com"),
        ({}, "I do not know which country"),
        ({"language": "de-AT", "timezone": "Europe/Vienna"}, "Menschen.*142"),
        ({"language": "de"}, "für jedes Land"),
        ({"language": "pt", "region": "GB"}, "sorry.*116 123"),
    ],
)
def test_the_numbers_are_those_of_the_persons_country(
    attributes: dict[str, Any], number: str
) -> None:
    assert re.search(number, str(text(request(**attributes))), re.DOTALL)


def test_every_text_of_every_language_can_be_said_in_every_country() -> None:
    texts, table = answers_from().texts, helplines()
    names = [name for name, _ in patterns().topics]
    assert [sorted(said) for said in texts.values()] == [sorted([*names, "where"])] * len(texts)
    for lines in (*table.international.values(), *table.countries.values()):
        assert lines.sources
        for said in texts.values():
            for name in names:
                assert "{" not in said[name].format(**lines.numbers())


async def test_the_careful_answer_comes_alone_and_before_all_others() -> None:
    told: list[str] = []

    def jokes(request: dict[str, Any]) -> dict[str, Any]:
        told.append(request["human_utterances"][-1]["text"])
        answer = request.get("answer")
        ask = None if answer else "raw_string"
        return {"text": "A joke.", "confidence": 1.0, "ask": ask}

    pipeline = Pipeline(
        annotators=[Service("sensitive", notice)],
        skill_selector=Service("careful_rule", answers.choose),
        skills=[Service("jokes", jokes), Service("careful", answers.answer)],
        postprocessors=[Service("careful_check", answers.keep)],
    )
    async with Assistant(pipeline, store="memory:") as assistant:
        fixed = await assistant.reply("tell me a joke, I want to die", user="ann")
        assert (fixed.text, told) == (text(request()), [])
        assert (await assistant.reply("tell me a joke", user="ann")).text == "A joke."
        to_ask = await assistant.reply("I want to die", user="ann")
        assert to_ask.text == fixed.text
