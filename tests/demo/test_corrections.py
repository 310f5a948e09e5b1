"""Words that correct a timer change it; words that ask for one more leave it."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count

import pytest
import pytest_asyncio
from msgspec.structs import replace

from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load_assistant
from prolocutor.config.settings import Settings
from prolocutor.plan.pipeline import StageService

pytestmark = pytest.mark.asyncio(loop_scope="module")

SET = {
    "en": "set a timer for 10 minutes",
    "de": "stell einen Timer auf 10 Minuten",
    "fr": "mets un minuteur de 10 minutes",
    "es": "pon un temporizador de 10 minutos",
}
CORRECTED = [
    ("en", "no, make it 15"), ("en", "make it 15 instead"), ("en", "sorry, I meant 15 minutes"),
    ("en", "um no fifteen"), ("en", "wait, not 10, 15"),
    ("de", "nein, 15 Minuten"), ("de", "doch lieber 15"), ("de", "nein, mach 15"),
    ("fr", "non, 15 minutes"), ("fr", "plutôt 15"), ("fr", "non, mets 15"),
    ("es", "no, 15 minutos"), ("es", "mejor 15"), ("es", "no, que sean 15"),
]  # fmt: skip
MORE = [
    ("en", "and one for 15 minutes"), ("en", "no, set another timer for 15 minutes"),
    ("de", "stell einen Timer auf 15 Minuten"), ("en", "set a timer for 15 minutes"),
]  # fmt: skip


def patient() -> Settings:
    """The demo, on a machine that may be slow."""
    settings = load_assistant(None)
    pipeline = settings.pipeline
    slow = {
        stage: [replace(one, timeout=60.0) for one in services if isinstance(one, StageService)]
        for stage, services in (("annotators", pipeline.annotators), ("skills", pipeline.skills))
    }
    return replace(settings, pipeline=replace(pipeline, **slow), deadline=120.0)


Talk = Callable[..., Awaitable[str]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talk() -> AsyncIterator[Talk]:
    """Says texts to the demo, each time as another person, and gives the text of the last reply."""
    pytest.importorskip("dateutil")
    persons = count()
    async with build_assistant(patient(), store="memory:") as assistant:

        async def say(*texts: str) -> str:
            user = f"person {next(persons)}"
            replies = [await assistant.reply(text, user=user) for text in texts]
            return replies[-1].text

        yield say


async def test_a_timer_is_changed_by_what_corrects_it_and_not_by_what_asks_for_another(
    talk: Talk,
) -> None:
    left = {}
    for language, words in (*CORRECTED, *MORE):
        timers = await talk(SET[language], words, "list my timers")
        left[words] = [line.partition(":")[0] for line in timers.splitlines()]
    reply = await talk(SET["en"], "no, make it 15", "wait, 20", "list my timers")

    assert {words: left[words] for _, words in CORRECTED} == {w: ["Timer"] for _, w in CORRECTED}
    both = ["10 minute timer", "15 minute timer"]
    assert {words: left[words] for _, words in MORE} == {words: both for _, words in MORE}
    assert reply.startswith(("Timer: 20 min", "Timer: 19 min"))


NOTHING = "There is nothing on your todo list."
NO_TIMER = "You have no timer running."


@pytest.mark.parametrize(
    ("said", "then", "asked", "shown"),
    [
        ("add milk to my list", "no, oat milk", "show my list", "Your list:\n1. oat milk"),
        ("add milk to my list", "scratch that", "show my list", NOTHING),
        ("clear my list", "undo that", "show my list", NOTHING),
        ("set a tea timer for 3 minutes", "oh no, forget it", "my timers", NO_TIMER),
    ],
)  # fmt: skip
async def test_what_was_noted_is_taken_back(
    said: str, then: str, asked: str, shown: str, talk: Talk
) -> None:
    reply = await talk(said, then, asked)

    assert reply == shown


async def test_what_was_removed_is_back_and_what_another_turn_added_stays(talk: Talk) -> None:
    said = ["add tea to my list", "add milk to my list", "remove tea from my list", "undo that"]
    reply = await talk(*said, "show my list")

    assert reply == "Your list:\n1. tea\n2. milk"


async def test_an_answer_with_a_typing_mistake_completes_its_request(talk: Talk) -> None:
    reply = await talk("set an egg timer", "9 minuts")

    assert reply.startswith("Egg timer set for 9 minutes")


MUM = "remind me to call mum"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ((MUM, "Tuesday", "not Tuesday, Wednesday"), "call mum (Wednesday"),
        ((MUM, "tomorrow at 9", "no, at 10"), "call mum (tomorrow at 10:00)"),
        ((MUM, "tomorrow at 9", "tomorrow at 11 would be better"), "call mum (tomorrow at 11:00)"),
        ((MUM, "no, ring dad tomorrow"), "ring dad (tomorrow at 09:00)"),
        ((MUM, "sorry, call dad", "tomorrow"), "call dad (tomorrow at 09:00)"),
        (("remind me to ring mum", "no wait, ring dad"), "1. ring dad"),
    ],
)
async def test_an_answer_and_the_words_before_it_can_be_corrected(
    said: tuple[str, ...], shown: str, talk: Talk
) -> None:
    reply = await talk(*said, "show my reminders")

    assert shown in reply
    assert "2. " not in reply


async def test_what_an_answer_completed_is_gone_on_with(talk: Talk) -> None:
    reply = await talk("what's the capital", "Peru", "and Chile?")

    assert reply.startswith("The capital of Chile is Santiago")


@pytest.mark.parametrize(
    ("said", "asked", "shown"),
    [
        (("don't set a timer for 10 minutes",), "my timers", NO_TIMER),
        (("please don't add milk to my list",), "show my list", NOTHING),
        (("if I set a timer for 5 minutes, when does it ring?",), "my timers", NO_TIMER),
        (("don't set a timer",), "my timers", NO_TIMER),
        (("stell keinen Timer auf 5 Minuten",), "my timers", NO_TIMER),
        (("setz Milch nicht auf meine Liste",), "show my list", NOTHING),
        (("n'ajoute pas de lait à ma liste",), "show my list", NOTHING),
        (("no añadas leche a mi lista",), "show my list", NOTHING),
        (("no olvides añadir leche a mi lista",), "show my list", "Your list:\n1. leche"),
        (("set a timer for 10 minutes", "no don't"), "my timers", NO_TIMER),
        (("add milk to my list", "I don't want it any more"), "show my list", NOTHING),
        (("add milk to my list", "and great job"), "show my list", "Your list:\n1. milk"),
        (("add milk to my list", "and also thank you"), "show my list", "Your list:\n1. milk"),
        (("add thanks to my list", "milk"), "show my list", "Your list:\n1. milk"),
    ],
)
async def test_nothing_is_done_that_nobody_ordered(
    said: tuple[str, ...], asked: str, shown: str, talk: Talk
) -> None:
    reply = await talk(*said, asked)

    assert reply == shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            ("add something to my list", "oil the hinges", "no wait, sweep the hall"),
            "sweep the hall",
        ),
        (("añade algo a mi lista", "barrer el patio", "no, regar las flores"), "regar las flores"),
        (("setz etwas auf meine Liste", "Salz", "nein moment, Zucker"), "Zucker"),
        (("add brush the dog to my list", "no hang on, walk the cat"), "walk the cat"),
    ],
)
async def test_a_corrected_entry_has_no_words_of_the_entry_before(
    said: tuple[str, ...], shown: str, talk: Talk
) -> None:
    reply = await talk(*said, "show my list")

    assert reply.splitlines()[1:] == [f"1. {shown}"]


async def test_a_day_after_an_order_goes_on_from_the_question_before_it(talk: Talk) -> None:
    said = ["which weekday is christmas eve", "add candles to my list", "and new year's day?"]
    reply = await talk(*said, "show my list")

    assert reply == "Your list:\n1. candles"


async def test_an_order_is_no_answer_though_any_words_are(talk: Talk) -> None:
    reply = await talk("add something to my list", "show my list")

    assert reply == "There is nothing on your todo list. What shall I add to your todo list?"


@pytest.mark.parametrize(
    ("then", "hours"),
    [
        (("no, saturday", "at ten"), ["10:00"]),
        (("at 4 pm",), ["16:00"]),
        (("and at 4 pm",), ["09:00", "16:00"]),
        (("remind me to buy stamps on friday at 4 pm",), ["09:00", "16:00"]),
    ],
)
async def test_a_time_alone_moves_the_reminder_and_more_words_note_another(
    then: tuple[str, ...], hours: list[str], talk: Talk
) -> None:
    reply = await talk("remind me to buy stamps on friday", *then, "show my reminders")

    assert re.findall(r"\d\d:\d\d", reply) == hours


@pytest.mark.parametrize(
    ("said", "then", "asked", "shown"),
    [
        ("jot down rice", "change it into pasta, rice is sold out", "show my list", "1. pasta"),
        ("jot down rice, beans", "oops, without beans", "show my list", "1. rice"),
        ("jot down three things: rice, beans", "5 * 5", "show my list", "1. rice\n2. beans"),
        ("add rice, beans", "remove an entry", "the former, i.e. rice", "Removed: rice."),
        ("add something", "okay, show me my list", "salt", "Added to your todo list as number 1"),
        ("note to meet Tom at noon", "5 * 5", "when do I meet Tom", "Meet Tom, "),
        ("7 + 8", "triple the outcome", "knock 5 off the total", "45 - 5 = 40"),
        ("5 * 5", "when is Easter", "how many days away", " days until "),
    ],
)
async def test_what_was_said_is_changed_and_asked_for_in_other_words(
    said: str, then: str, asked: str, shown: str, talk: Talk
) -> None:
    reply = await talk(said, then, asked)

    assert shown in reply
