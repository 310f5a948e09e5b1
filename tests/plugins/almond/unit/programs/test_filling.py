"""What a program lacks is asked for by its type, one thing in each turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prolocutor.plugins.almond.programs.filling import ANY_MORE
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from tests.plugins.almond.unit.programs.gadgets import (
    Gadgets,
    program,
    running,
    say,
    service,
    texts,
)
from tests.unit.assistant.askers import special
from tests.unit.assistant.talks import assistant

TYPES = """
class @org.prolocutor.gadgets {
  action take(in req value : %s #_[prompt="What is it?"]) #[confirm=false];
}
"""


@pytest.mark.parametrize(
    ("kind", "ask", "answer", "taken"),
    [
        ("String", "raw_string", "cancel", "cancel"),
        ("Number", "number", "twelve", 12),
        ("Boolean", "yesno", "sure", True),
        ("Enum(on, turned_off)", "choice", "turned off", "turned_off"),
        ("Date", "date", "2026-12-24", "2026-12-24"),
        ("Time", "time", "12:30", "12:30:00"),
        (
            "Location",
            "location",
            "48.1, 11.5",
            {"latitude": 48.1, "longitude": 11.5, "display": "48.1, 11.5"},
        ),
        ("Measure(m)", "generic", "5 km", 5000),
        ("Measure(ms)", "generic", "30 minutes", 1_800_000),
        ("Currency", "generic", "$20", {"value": 20, "code": "usd"}),
        ("Entity(tt:email_address)", "email_address", "ann@example.org", "ann@example.org"),
        ("Entity(tt:phone_number)", "phone_number", "+49 30 901820", "+4930901820"),
        ("Entity(tt:contact)", "contact", "ann@example.org", "ann@example.org"),
        ("Entity(tt:picture)", "picture", "https://e.org/a.png", "https://e.org/a.png"),
        ("Entity(tt:password)", "password", "no", "no"),
        ("Entity(tt:hashtag)", "raw_string", "cats", "cats"),
    ],
)
async def test_a_missing_value_is_asked_for_by_its_type(
    kind: str, ask: str, answer: str, taken: Any
) -> None:
    gadgets = Gadgets()
    async with assistant(service(gadgets, TYPES % kind)) as it:
        first = await program(it, "now => @org.prolocutor.gadgets.take();")
        second = await say(it, answer)
    assert first.ask == ask
    assert texts(first)[0].startswith("What is it?") is True
    assert second.ask is None
    assert texts(second) == ["Done."]
    assert gadgets.calls_of("take") == [{"value": taken}]


async def test_a_value_of_another_kind_is_asked_for_again() -> None:
    gadgets = Gadgets()
    async with assistant(service(gadgets, TYPES % "Measure(m)")) as it:
        await program(it, "@org.prolocutor.gadgets.take();")
        again = await say(it, "5 kg")
        last = await say(it, "2 m")
    assert again.ask == "generic"
    assert texts(again)[0].startswith("I am looking for a number with a unit: m, km")
    assert last.ask is None
    assert gadgets.calls_of("take") == [{"value": 2}]


async def test_a_list_is_asked_for_one_by_one() -> None:
    gadgets = Gadgets()
    async with assistant(service(gadgets, TYPES % "Array(Number)")) as it:
        asks = [await program(it, "@org.prolocutor.gadgets.take();")]
        asks += [await say(it, text) for text in ("1", "yes", "2", "no")]
    assert [turn.ask for turn in asks] == ["number", "yesno", "number", "yesno", None]
    assert texts(asks[1]) == [ANY_MORE]
    assert gadgets.calls_of("take") == [{"value": [1, 2]}]


async def test_a_half_filled_program_survives_a_restart(tmp_path: Path) -> None:
    gadgets, file = Gadgets(), tmp_path / "dialogs.db"
    async with assistant(service(gadgets), store=SqliteStore(file)) as it:
        await program(it, "@com.twitter.home_timeline()[1] => @com.twitter.post();")
    async with assistant(service(gadgets), store=SqliteStore(file)) as it:
        sure = await say(it, "cats")
    async with assistant(service(gadgets), store=SqliteStore(file)) as it:
        done = await say(it, "yes")
    assert texts(sure) == [
        "Okay, so you want me to tweet with status “cats” with tweets. Is that right?"
    ]
    assert texts(done) == ["Done."]
    assert gadgets.calls_of("post") == [{"status": "cats"}]


CONFIRMED = """
class @org.prolocutor.gadgets {
  action usual(in opt text : String);
  action sure(in opt text : String) #[confirm=true];
  action quick(in opt text : String) #[confirm=false];
  query look(out text : String);
  query secret(out text : String) #[confirm=true];
}
"""


@pytest.mark.parametrize(
    ("source", "is_asked"),
    [
        ("@org.prolocutor.gadgets.usual();", True),
        ("now => @org.prolocutor.gadgets.usual();", True),
        ("@org.prolocutor.gadgets.sure();", True),
        ("@org.prolocutor.gadgets.quick();", False),
        ("#[confirm=false] @org.prolocutor.gadgets.usual();", False),
        ("#[confirm=false] now => @org.prolocutor.gadgets.sure();", False),
        ("#[confirm=true] @org.prolocutor.gadgets.quick();", True),
        ("@org.prolocutor.gadgets.look();", False),
        ("@org.prolocutor.gadgets.secret();", True),
        ("@org.prolocutor.gadgets.look() => @org.prolocutor.gadgets.usual(text=text);", True),
        ("timer(base=$now, interval=1h) => @org.prolocutor.gadgets.usual();", True),
        ("timer(base=$now, interval=1h) => @org.prolocutor.gadgets.look();", False),
    ],
)
async def test_an_action_is_confirmed_unless_the_manifest_or_the_program_says_otherwise(
    source: str, is_asked: bool
) -> None:
    gadgets = Gadgets()
    async with assistant(service(gadgets, CONFIRMED)) as it:
        turn = await program(it, source)
        called = list(gadgets.asked)
        if is_asked:
            await say(it, "yes")
    assert turn.ask == ("yesno" if is_asked else None)
    assert texts(turn)[0].startswith("Okay, so you want me to") == is_asked
    assert not (is_asked and called)
    assert bool(gadgets.asked) or source.startswith("timer")


async def test_an_action_is_confirmed_after_its_slots_are_filled() -> None:
    gadgets = Gadgets()
    async with assistant(service(gadgets, TYPES.replace("#[confirm=false]", "") % "Number")) as it:
        asks = [await program(it, "@org.prolocutor.gadgets.take();")]
        asks += [await say(it, text) for text in ("12", "yes")]
    assert [turn.ask for turn in asks] == ["number", "yesno", None]
    assert texts(asks[1]) == ["Okay, so you want me to take with value “12”. Is that right?"]
    assert gadgets.calls_of("take") == [{"value": 12}]


@pytest.mark.parametrize(
    ("came", "said"),
    [
        ({"text": "no"}, ["All right, never mind."]),
        ({"text": "never mind"}, ["All right, never mind."]),
        ({"text": "", "parsed": special("stop")}, []),
        ({"text": "", "parsed": special("no")}, ["All right, never mind."]),
    ],
)
async def test_an_unconfirmed_action_is_not_done(came: dict[str, Any], said: list[str]) -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await program(it, '@com.twitter.post(status="lol");')
        turn = await say(it, came.pop("text"), **came)
    assert turn.ask is None
    assert gadgets.asked == []
    assert [text for text in texts(turn) if text] == said


async def test_another_program_takes_the_place_of_one_that_waits() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await program(it, '@com.twitter.post(status="lol");')
        turn = await program(it, "count(@com.twitter.home_timeline());")
    assert turn.ask is None
    assert texts(turn) == ["The count is 3."]
    assert gadgets.calls_of("post") == []


async def test_places_that_nobody_knows_are_asked_for_once_each() -> None:
    gadgets = Gadgets()
    source = "@com.uber.price_estimate(start=$location.home, end=$location.home);"
    async with running(gadgets) as it:
        first = await program(it, source)
        await say(it, "1, 2")
    place = {"latitude": 1, "longitude": 2, "display": "1, 2"}
    assert first.ask == "location"
    assert texts(first) == ["What is your home location?"]
    assert gadgets.calls_of("price_estimate") == [{"start": place, "end": place}]


async def test_a_program_in_tokens_has_slots_with_and_without_values() -> None:
    gadgets = Gadgets()
    code = "@com.twitter . post_picture ( caption = SLOT_0 , picture_url = SLOT_1 ) ;"
    parsed = {
        "code": code.split(),
        "entities": {"SLOT_1": "https://e.org/a.png"},
        "slots": ["caption", "url"],
        "slotTypes": {"caption": "String", "url": "Picture"},
    }
    async with running(gadgets) as it:
        first = await it.turn("", user="ann", parsed=parsed)
        await say(it, "look")
    assert first.ask == "raw_string"
    assert gadgets.calls_of("post_picture") == [
        {"caption": "look", "picture_url": "https://e.org/a.png"}
    ]


async def test_clients_are_told_which_program_asks() -> None:
    async with running(Gadgets()) as it:
        await program(it, "@com.twitter.post();")
        waiting = await it.archive.waiting("ann")
    assert waiting is not None
    assert waiting.code == "@com.twitter.post ( status = $? ) ;".split()
