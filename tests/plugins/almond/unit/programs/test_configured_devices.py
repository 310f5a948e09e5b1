"""Which of several devices is meant, what nobody has, and who may act at all."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.programs import ProgramInfo, ProgramSource
from prolocutor.dialog import plain
from prolocutor.plugins.almond.programs import executor, sources
from prolocutor.plugins.almond.programs.device_classes import KIND
from prolocutor.plugins.almond.programs.filling import MUST_LOG_IN
from prolocutor.plugins.almond.thingtalk.tree import Program
from tests.plugins.almond.unit.programs.gadgets import (
    Gadgets,
    messages,
    program,
    running,
    say,
    service,
    texts,
)
from tests.unit.assistant.talks import assistant

COMIC = "@com.xkcd%s.get_comic();"


async def set_up(it: Assistant, **names: str) -> None:
    """Let ann have comics of these ids and names."""
    for id_, name in names.items():
        body = plain.encode({"kind": "com.xkcd", "name": name, "url": id_})
        await it.store.put_record("ann", KIND, id_, body)


def urls(gadgets: Gadgets) -> list[Any]:
    """Return the set-up values of the devices that were called."""
    asked = [
        request["function"].get("device", {})
        for request in gadgets.requests
        if "function" in request
    ]
    return [device.get("url") for device in asked]


@pytest.mark.parametrize(
    ("which", "called"),
    [
        ('(id="a"^^tt:device_id)', ["a"]),
        ('(id="a")', ["a"]),
        ('(id="com.xkcd")', [None]),
        ('(name="office")', ["b"]),
        ('(name="Office")', ["b"]),
        ('(name="upstairs")', ["c"]),
        ("(all=true)", ["a", "b", "c"]),
    ],
)
async def test_an_id_or_a_name_says_which_device_is_meant(which: str, called: list[Any]) -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await set_up(it, a="Home", b="Office", c="Upstairs room")
        turn = await program(it, COMIC % which)
    assert turn.ask is None
    assert urls(gadgets) == called


@pytest.mark.parametrize("which", ['(id="z"^^tt:device_id)', '(name="Cellar")', '(id="org.other")'])
@pytest.mark.parametrize("known", [{}, {"a": "Home", "b": "Office"}])
async def test_an_unknown_device_is_an_error_and_nothing_is_done(
    which: str, known: dict[str, str]
) -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await set_up(it, **known)
        turn = await program(it, COMIC % which)
        created = await it.programs.create("ann", COMIC % which, ProgramInfo())
    [said] = texts(turn)
    assert "you have no @com.xkcd with the" in said
    assert ("Home" in said or "“a”" in said) is bool(known)
    assert "you have no" in created.errors[0]
    assert turn.ask is None
    assert gadgets.asked == []


async def test_among_several_devices_one_is_chosen() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await set_up(it, a="Office one", b="Office two", c="Home", d="Home")
        asked = await program(it, COMIC % "")
        await say(it, "the second one")
        narrowed = await program(it, COMIC % '(name="office")')
        titles = [message["title"] for message in messages(narrowed) if message["type"] == "choice"]
        done = await say(it, "Office one")
        created = await it.programs.create("ann", COMIC % "", ProgramInfo())
    assert texts(asked)[0] == ("You have multiple xkcd devices. Which one do you want to use?")
    assert [message["title"] for message in messages(asked) if message["type"] == "choice"] == [
        "Home (c)",
        "Home (d)",
        "Office one",
        "Office two",
    ]
    assert asked.ask == "choice"
    assert narrowed.ask == "choice"
    assert done.ask is None
    assert titles == ["Office one", "Office two"]
    assert urls(gadgets) == ["d", "a"]
    assert "there are several devices" in created.errors[0]


async def test_the_only_device_of_a_kind_is_meant_without_a_word() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await set_up(it, a="Home")
        turn = await program(it, COMIC % "")
    assert turn.ask is None
    assert urls(gadgets) == ["a"]


@pytest.mark.parametrize(
    ("source", "may"),
    [
        ("@com.xkcd.get_comic();", True),
        ("@com.twitter.home_timeline()[1];", True),
        ('@com.twitter.post(status="x");', False),
        ("@com.twitter.post();", False),
        ('#[confirm=false] @com.twitter.post(status="x");', False),
        ("monitor(@com.twitter.home_timeline());", False),
        ("timer(base=$now, interval=1h);", False),
    ],
)
async def test_an_anonymous_visitor_may_ask_but_not_act(source: str, may: bool) -> None:
    gadgets, user = Gadgets(), "almond:anonymous-0123"
    async with running(gadgets) as it:
        turn = await it.turn("", user=user, program=source)
        created = await it.programs.create(user, source, ProgramInfo())
        left = await it.programs.apps(user)
    told = messages(turn)
    assert turn.ask is None
    assert left == []
    assert bool(gadgets.asked) is may
    assert (texts(turn)[0] == MUST_LOG_IN) is not may
    assert ("/user/register" in [one.get("url") for one in told]) is not may
    assert (created.errors != []) is not may


async def test_a_home_that_was_told_once_is_remembered() -> None:
    gadgets, source = (
        Gadgets(),
        "@com.uber.price_estimate(start=$location.home, end=$location.home);",
    )
    async with running(gadgets) as it:
        first = await program(it, source)
        await say(it, "1, 2")
        second = await program(it, source)
    assert first.ask == "location"
    assert second.ask is None
    assert gadgets.calls_of("price_estimate")[0] == gadgets.calls_of("price_estimate")[1]


async def test_the_current_location_is_the_clients() -> None:
    gadgets, place = Gadgets(), {"latitude": 1.5, "longitude": 2.5, "display": "Here"}
    here = "$location.current_location"
    source = f"@com.uber.price_estimate(start={here}, end={here});"
    async with running(gadgets) as it:
        sent = {"platformData": {"location": place}}
        turn = await program(it, source, attributes=sent)
        elsewhere = await program(it, source)
    assert turn.ask is None
    assert elsewhere.ask == "location"
    assert gadgets.calls_of("price_estimate") == [{"start": place, "end": place}]


SENDING = """
class @org.prolocutor.gadgets {
  action send(in req to : Entity(%s) #_[prompt="To whom?"], in req text : String)
    #[confirm=false];
}
"""
PEOPLE = [
    {"value": "phone:+4930111111", "display": "Bob Smith"},
    {"value": "phone:+4930222222", "display": "Bob Jones"},
    {"value": "email:ann@example.org", "display": "Ann", "principal": "@ann"},
]


@pytest.mark.parametrize(
    ("kind", "name", "answers", "value"),
    [
        ("tt:email_address", "ann", [], "ann@example.org"),
        ("tt:email_address", "@ann", [], "ann@example.org"),
        ("tt:contact", "Ann", [], "ann@example.org"),
        ("tt:phone_number", "Bob Jones", [], "+4930222222"),
        ("tt:phone_number", "Bob", ["Bob", "the first one"], "+4930111111"),
        ("tt:phone_number", "Ann", ["bob jones"], "+4930222222"),
        ("tt:phone_number", "zoe", ["+49 30 901820"], "+4930901820"),
    ],
)
async def test_a_username_is_a_known_person_or_asked_for(
    kind: str, name: str, answers: list[str], value: str
) -> None:
    gadgets, sent = Gadgets(), {"platformData": {"contacts": PEOPLE}}
    source = f'@org.prolocutor.gadgets.send(to="{name}"^^tt:username, text="hi");'
    async with assistant(service(gadgets, SENDING % kind)) as it:
        turns = [await program(it, source, attributes=sent)]
        turns += [await say(it, text, attributes=sent) for text in answers]
    assert bool(answers) == (turns[0].ask is not None)
    assert turns[-1].ask is None
    assert gadgets.calls_of("send") == [{"to": value, "text": "hi"}]


async def test_a_large_program_is_read_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[bool] = []
    read = sources.read_program

    def noted(source: ProgramSource) -> Program:
        threads.append(threading.current_thread() is threading.main_thread())
        return read(source)

    monkeypatch.setattr(executor, "read_program", noted)
    gadgets = Gadgets()
    async with running(gadgets) as it:
        small = await program(it, "@com.twitter.home_timeline();")
        many = " || ".join(["likes == 3"] * 500)
        large = await program(it, f"@com.twitter.home_timeline() filter {many};")
    assert threads == [True, False]
    assert texts(small)[0] == "alice: foo is here"
    assert texts(large) == ["alice: foo is here"]
