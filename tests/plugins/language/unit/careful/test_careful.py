"""Careful answers: what is noticed and what is not, and whose numbers are given."""

import re
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.language import language
from prolocutor.plugins.language.careful import answers
from prolocutor.plugins.language.careful.answers import answers_from
from prolocutor.plugins.language.careful.helplines import helplines
from prolocutor.plugins.language.careful.topics import notice, patterns

WORDINGS = [
    tuple(line.partition("\t")[::2])
    for line in Path(__file__).with_name("wordings.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]

CARE = Path(__file__).with_name("care.txt").read_text(encoding="utf-8").split("\n\n")


def request(topic: object = "self_harm", confidence: object = 1.0, **attributes: Any) -> Any:
    annotation = {"sensitive_topic": topic, "confidence": confidence}
    return {
        "human": {"attributes": attributes},
        "human_utterances": [{"text": "...", "annotations": {"model": annotation}}],
        "bot_utterances": [{"text": "A joke."}],
    }


def text(asked: Any) -> str | None:
    return answers_from().find_answer(asked)


@pytest.mark.parametrize(("words", "topic"), WORDINGS)
def test_words_of_danger_are_noticed_and_idioms_are_not(words: str, topic: str) -> None:
    assert (patterns().find_topic(words) or "") == topic


@pytest.mark.parametrize(("half", "least"), [(0, 1.0), (1, 0.97)])
def test_questions_of_medicine_animals_and_symptoms_are_noticed(half: int, least: float) -> None:
    lines = [line for line in CARE[half].splitlines() if not line.startswith("#")]
    wanted = [line[1:] for line in lines if line.startswith("+")]
    noticed = [line for line in lines if patterns().find_topic(line[1:])]
    assert [line for line in noticed if line.startswith("-")] == []
    assert len(noticed) >= least * len(wanted)


def test_the_topic_counts_in_whatever_clause_it_stands() -> None:
    for words, topic in WORDINGS[:40]:
        if topic:
            assert (
                patterns().find_topic(f"tell me a joke and then {words}, what is 2 + 2?") == topic
            )
            assert patterns().find_topic(f"kill the timer. {words.upper()}") == topic


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        ("no wait, walk the dog", None),
        ("no, my dog cannot walk", "animal"),
        ("no puede caminar mi perro", "animal"),
    ],
)
def test_words_that_take_back_the_turn_before_deny_nothing(words: str, topic: str | None) -> None:
    assert patterns().find_topic(words) == topic


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
        ({"timezone": "Europe/Berlin", "country": "KE"}, "findahelpline.com"),
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
    assert [sorted(said) for said in texts.values()] == [
        sorted([*names, "then", "doctor", "vet", "where"])
    ] * len(texts)
    for lines in (*table.international.values(), *table.countries.values()):
        assert lines.sources
        for said in texts.values():
            for name in names:
                assert "{" not in said[name].format(**lines.numbers(table.international["en"]))


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
        assert fixed.text == text(request())
        assert told == []
        assert (await assistant.reply("tell me a joke", user="ann")).text == "A joke."
        to_ask = await assistant.reply("I want to die", user="ann")
        assert to_ask.text == fixed.text


async def test_a_country_named_later_sets_the_numbers_and_nothing_is_advertised() -> None:
    async with demo_of_care() as assistant:
        said = [
            (await assistant.reply(text, user="ann")).text
            for text in (
                "my dad has chest pain",
                "we are in Lyon",
                "he is 60",
                "what is the time",
                "who won?",
                "who won again?",
            )
        ]
    assert [bool(re.search(r"country", one)) for one in said[:2]] == [True, False]
    assert "ambulance: 15" in said[1]
    assert "ambulance: 15" in said[2]
    assert said[3:] == ["Noon.", said[2], "I can do many things."]


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        (["mein Hund hat Schokolade gefressen", "ich bin in Wien", "und jetzt?"], "406 43 43"),
        (["my dog ate chocolate", "I'm in Sydney", "he was sick twice"], "000"),
        (["mi hijo se tragó una pila", "estoy en Madrid", "ayuda"], "562 04 20"),
        (["poison control number please", "and in Canada?"], "764-7669"),
        (["my friend in Berlin wants to kill himself", "what should I do?"], "0800 111"),
    ],
)
async def test_pleas_and_places_get_the_careful_answer_again(texts: list[str], number: str) -> None:
    async with demo_of_care() as assistant:
        replies = [await assistant.reply(text, user="ann") for text in texts]
    assert replies[-1].active_skill == "careful"
    assert number in replies[-1].text


def demo_of_care() -> Assistant:
    def clock(request: dict[str, Any]) -> dict[str, Any]:
        asked = "time" in request["human_utterances"][-1]["text"]
        return {"text": "Noon.", "confidence": 0.9 if asked else 0.0}

    def guide(request: dict[str, Any]) -> dict[str, Any]:
        return {"text": "I can do many things.", "confidence": 0.2}

    pipeline = Pipeline(
        annotators=[
            Service("sensitive", notice, window=3),
            Service("language", language.notice),
        ],
        skill_selector=Service("careful_rule", answers.choose),
        skills=[
            Service("clock", clock),
            Service("guide", guide),
            Service("careful", answers.answer),
        ],
    )
    return Assistant(pipeline, store="memory:")
