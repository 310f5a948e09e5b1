"""The calculator, units, clock, days and currency agents against 100 phrasings of each domain."""

import csv
import datetime as dt
import importlib
import io
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from tests.demo.agent_requests import agents_with_phrasings, phrasings, request

currency_converter = pytest.importorskip("currency_converter")

AGENTS = ["calculator", "units", "clock", "days", "currency"]

Answer = Callable[[dict[str, Any]], list[dict[str, Any]]]


def agent(name: str) -> Answer:
    module = importlib.import_module(f"prolocutor_demo.{name}")
    return module.answer  # type: ignore[no-any-return]


def reply_of(name: str, text: str, **fields: Any) -> dict[str, Any]:
    (hypothesis,) = agent(name)(request(text, **fields))
    return hypothesis


@pytest.mark.parametrize("name", AGENTS)
def test_there_are_100_different_phrasings_of_which_40_say_the_right_answer(name: str) -> None:
    lines = phrasings(name)
    assert len({line.text.lower() for line in lines}) == 100
    assert sum(line.expected is not None for line in lines) >= 40


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_answers_95_of_the_100_phrasings_of_its_domain_rightly(name: str) -> None:
    replies = [(line, reply_of(name, line.text)) for line in phrasings(name)]
    wrong = [
        (line.text, reply["text"])
        for line, reply in replies
        if not (0.5 <= reply["confidence"] <= 0.98 and line.fits(reply["text"]))
    ]
    assert len(wrong) <= 5, wrong


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_declines_95_of_the_100_phrasings_of_every_other_domain(name: str) -> None:
    for other in agents_with_phrasings():
        taken = [
            line.text
            for line in phrasings(other)
            if other != name and reply_of(name, line.text)["confidence"] > 0.1
        ]
        assert len(taken) <= 5, (other, taken)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "9^9^9^9^9",
        "(" * 400 + "1",
        "-" * 500,
        "1000! ^ 1000!",
        "a" * 100_000,
        "1 " * 300,
        "twenty " * 80,
        "1 km 2 m " * 60,
        "days until " * 50,
        "what time is it in " * 30,
        "born 3 may 1980 " * 40,
        "99999999999999999999 days ago",
        "what date is 999999 years from today",
        "how many days between " + "1 may and " * 50,
        "9" * 400 + " dollars in euros",
        "how old is somebody born 99 May 0000",
        "\ud83d\ude00 \x00 \u202e",
        "",
    ],
)
@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_answers_even_the_strangest_words_at_once(name: str, text: str) -> None:
    reply_of(name, "what time is it in Osaka, and what is 1 usd in eur?")
    start = time.process_time()
    reply = reply_of(name, text)
    assert time.process_time() - start < 1
    assert 0 <= reply["confidence"] <= 0.98
    assert 0 < len(reply["text"]) < 2_000


@pytest.mark.parametrize("bare", [{}, {"human": None, "human_utterances": []}])
@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_declines_a_request_without_words(name: str, bare: dict[str, Any]) -> None:
    (hypothesis,) = agent(name)(bare)
    assert hypothesis["confidence"] <= 0.1


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("calculator", "ninety six divide by eight", "= 12"),
        ("calculator", "6 multiply 19", "= 114"),
        ("calculator", "5% of 3,20,000", "= 16,000"),
        ("calculator", "10 percent of 3 crore", "= 3,000,000"),
        ("calculator", "two pound fifteen times four", "= 8.6"),
        ("calculator", "3 tickets at 2.50 each", "= 7.5"),
        ("units", "a kilo and a half in pounds", "3.31 pounds"),
        ("units", "nine stone four in kg", "58.97 kilograms"),
        ("units", "how many miles is a marathon 42.195 km", "26.22 miles"),
        ("clock", "need the time in Lima", "In Lima it is"),
        ("clock", "the time of Lima just now", "In Lima it is"),
        ("units", "300 grm in ounces", "10.58 ounces"),
        ("clock", "tell what is the time in Lima", "In Lima it is"),
    ],
)
def test_ordinary_wordings_are_understood(name: str, asked: str, told: str) -> None:
    assert told in agent(name)(request(asked))[0]["text"]


def test_two_agents_each_answer_their_part_of_a_double_question() -> None:
    text = "what's 15% of 80 and what time is it in Tokyo?"
    calculated, told = reply_of("calculator", text), reply_of("clock", text)
    assert "= 12" in calculated["text"]
    assert "21:00" in told["text"]
    assert min(calculated["confidence"], told["confidence"]) >= 0.5
    assert calculated["confidence"] < reply_of("calculator", "15% of 80")["confidence"]


def test_the_clock_goes_by_the_zone_of_the_person_and_the_moment_of_asking() -> None:
    moment = dt.datetime(2027, 7, 1, 23, 30, tzinfo=dt.UTC)
    asked = {"attributes": {"timezone": "Asia/Tokyo"}, "now": moment}
    assert "08:30" in reply_of("clock", "what time is it?", **asked)["text"]
    assert "2 July 2027" in reply_of("clock", "what's the date", **asked)["text"]


def test_a_known_birthday_answers_how_old_am_i() -> None:
    attributes = {"birthday": "1980-05-03"}
    assert "46 years" in reply_of("days", "how old am I?", attributes=attributes)["text"]
    assert reply_of("days", "how old am I?")["confidence"] <= 0.1


def test_currencies_are_converted_at_the_newest_rate_of_the_shipped_file() -> None:
    archive = zipfile.ZipFile(currency_converter.CURRENCY_FILE)
    lines = archive.read(archive.namelist()[0]).decode().splitlines()
    newest = next(csv.DictReader(io.StringIO("\n".join(lines[:2]))))
    date = dt.date.fromisoformat(newest["Date"])
    text = reply_of("currency", "1000 euros in dollars")["text"]
    assert f"= {1000 * float(newest['USD']):,.2f}".rstrip("0").rstrip(".") in text
    assert f"{date.day} {date:%B} {date.year}" in text


@pytest.mark.parametrize("spelling", ["square metres", "sq meters", "metres squared", "m²"])
def test_a_unit_is_read_in_every_spelling(spelling: str) -> None:
    assert "50,000 square meters" in reply_of("units", f"5 hectares in {spelling}")["text"]


def test_every_spelling_of_a_currency_is_read() -> None:
    for spelling in ("polish złoty", "zlotys", "PLN", "zł"):
        assert "Polish zlotys" in reply_of("currency", f"100 euros in {spelling}")["text"]
