"""The demo's agents for countries, holidays, words and jokes, asked by their phrasings."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.demo.agent_requests import agents_with_phrasings, phrasings, request

AGENTS = ("countries", "dictionary", "holidays", "jokes")
STRANGERS = [(name, other) for name in AGENTS for other in agents_with_phrasings() if name != other]
ENOUGH = 95
NASTY = (
    "",
    " ",
    "?",
    "\x00\ufffd\U0001f600",
    "define " + "a" * 5000,
    "what does " + "- ' " * 400 + "mean",
    "capital of " + "south " * 400,
    "when is " + "day " * 400,
    "is 99/99/9999 a holiday in Germany",
    "is 31 February a holiday",
    "holidays in 9999 in Iran",
    "tell me " + "joke " * 400,
    "(((((((((",
    "what is the capital of of of",
    "Was ist die Hauptstadt von Österreich?",
)


def agent(name: str) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    function: Callable[[dict[str, Any]], list[dict[str, Any]]] = importlib.import_module(
        f"prolocutor_demo.{name}"
    ).answer
    return function


def said(name: str, text: str, attributes: dict[str, Any] | None = None) -> str:
    """What the agent answers; "" if it declines."""
    [reply] = agent(name)(request(text, attributes))
    return str(reply["text"]) if reply["confidence"] >= 0.5 else ""


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_has_a_hundred_different_phrasings(name: str) -> None:
    assert len({line.text.lower() for line in phrasings(name)}) == 100


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_answers_the_questions_of_its_field(name: str) -> None:
    answer = agent(name)
    missed = []
    for line in phrasings(name):
        [reply] = answer(request(line.text))
        if reply["confidence"] < 0.5 or not line.fits(reply["text"]):
            missed.append((line.text, line.expected, reply))
    assert 100 - len(missed) >= ENOUGH, missed


@pytest.mark.parametrize(("name", "other"), STRANGERS)
def test_an_agent_declines_the_questions_of_other_fields(name: str, other: str) -> None:
    answer = agent(name)
    replies = [(line.text, answer(request(line.text))[0]) for line in phrasings(other)]
    taken = [(text, reply) for text, reply in replies if reply["confidence"] > 0.1]
    assert len(taken) <= len(replies) * (100 - ENOUGH) / 100, taken


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_survives_any_text(name: str, text: str) -> None:
    [reply] = agent(name)(request(text))
    assert 0 <= reply["confidence"] <= 0.98


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_survives_a_request_without_words(name: str) -> None:
    [reply] = agent(name)({"human": {"attributes": {}}, "human_utterances": []})
    assert reply["confidence"] <= 0.1


def test_a_country_is_found_by_its_adjective_and_by_a_misspelled_name() -> None:
    assert "Yen" in said("countries", "what is the Japanese currency called?")
    assert "Lisbon" in said("countries", "capital of portugall")


def test_the_money_and_language_of_a_large_city_are_those_of_its_country() -> None:
    assert "Pakistani Rupee" in said("countries", "what currency do they have in Lahore")
    assert "Portuguese" in said("countries", "language of sao paulo")
    assert said("countries", "population of Lahore") == ""


def test_the_currency_of_bulgaria_is_the_euro() -> None:
    assert "EUR" in said("countries", "what currency does Bulgaria use?")


def test_a_question_about_another_thing_in_a_country_is_declined() -> None:
    assert said("countries", "capital gains tax in Germany") == ""
    assert said("countries", "I live in Germany") == ""


def test_half_of_a_question_is_answered_less_surely_than_the_whole() -> None:
    [whole] = agent("countries")(request("what is the capital of Peru?"))
    [half] = agent("countries")(
        request("what is the capital of Peru and what time is it in Tokyo?")
    )
    assert "Lima" in half["text"]
    assert 0.5 <= half["confidence"] < whole["confidence"]


def test_holidays_are_those_of_the_country_of_the_person() -> None:
    asked = "what is the next public holiday?"
    assert "Christmas" in said("holidays", asked, {"country": "France"})
    assert "Thanksgiving" in said("holidays", asked)
    assert "Germany" in said("holidays", asked, {"country": "DE"})


def test_a_holiday_of_some_parts_of_a_country_is_told_with_the_parts() -> None:
    answer = said("holidays", "is epiphany a public holiday in Germany?")
    assert answer.startswith("No")
    assert "Bayern" in answer


def test_a_day_that_does_not_exist_is_no_holiday() -> None:
    assert said("holidays", "is 31 February a holiday") == ""


def test_a_holiday_trip_is_no_question_about_public_holidays() -> None:
    assert said("holidays", "I want to go on holiday to Spain") == ""


def test_a_misspelled_word_is_explained_as_the_word_it_most_likely_is() -> None:
    assert "“serendipity”" in said("dictionary", "define serendipty")


def test_an_inflected_word_is_explained_by_its_lemma() -> None:
    assert "a young person" in said("dictionary", "what does children mean?")


def test_a_word_that_nobody_knows_is_declined_by_name() -> None:
    [reply] = agent("dictionary")(request("define zqxjkv"))
    assert reply["confidence"] <= 0.1
    assert "zqxjkv" in reply["text"]


def test_jokes_do_not_repeat_for_a_hundred_turns() -> None:
    attributes: dict[str, Any] = {}
    told = []
    for _ in range(100):
        [reply] = agent("jokes")(request("tell me a joke", attributes))
        attributes = reply["human_attributes"]
        told.append(reply["text"])
    assert len(set(told)) == 100


def test_what_is_remembered_of_jokes_is_bounded() -> None:
    attributes: dict[str, Any] = {}
    for _ in range(150):
        attributes = agent("jokes")(request("a joke", attributes))[0]["human_attributes"]
    assert len(attributes["jokes_told"]) == 100


def test_the_same_utterance_gets_the_same_joke_again() -> None:
    assert said("jokes", "tell me a joke") == said("jokes", "tell me a joke")


def test_a_spoiled_memory_of_jokes_is_survived() -> None:
    for kept in (None, "x", [1.5, "a", -1, 10**9, True], {"a": 1}):
        assert said("jokes", "tell me a joke", {"jokes_told": kept})


def test_another_one_is_a_joke_only_after_a_joke() -> None:
    assert said("jokes", "another one") == ""
    after = request("another one")
    after["bot_utterances"] = [{"text": said("jokes", "tell me a joke")}]
    assert agent("jokes")(after)[0]["confidence"] >= 0.5


@pytest.mark.parametrize(
    ("name", "said", "asked", "request_"),
    [
        (
            "countries",
            "what is the population of",
            "Of which country?",
            "what is the population of {}",
        ),
        ("countries", "what's the currency?", "Of which country?", "what's the currency of {}"),
        ("clock", "what's the time in", "In which place?", "what's the time in {}"),
        ("days", "how many weeks until", "Which day do you mean?", "how many weeks until {}"),
        ("dictionary", "spell", "Which word?", "spell {}"),
        ("units", "convert 3 kilograms", "Into which unit?", "convert 3 kilograms to {}"),
        ("currency", "change 20 dollars", "Into which currency?", "change 20 dollars to {}"),
    ],
)
def test_what_a_request_lacks_is_asked_for(name: str, said: str, asked: str, request_: str) -> None:
    (reply,) = agent(name)(request(said))
    assert reply["text"] == asked
    assert reply["ask_context"]["request"] == request_
