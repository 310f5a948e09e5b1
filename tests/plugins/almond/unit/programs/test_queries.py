"""Queries: filters, projections, order, sums, and what one call gives to the next."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prolocutor.plugins.almond.programs import calling
from tests.plugins.almond.unit.programs.gadgets import (
    TWEETS,
    Gadgets,
    messages,
    program,
    running,
    say,
    service,
    texts,
)
from tests.unit.assistant.talks import assistant

ITEMS = """
class @org.prolocutor.gadgets {
  list query items(in opt kind : String, out name : String, out size : Number,
                   out weight : Measure(kg), out price : Currency, out day : Date,
                   out hour : Time, out sold : Boolean, out tags : Array(String),
                   out colour : Enum(red, blue), out place : Location,
                   out maker : {name : String, country : String})
    #_[formatted=["${name}"]];
}
"""
MAKERS = {"name": "Acme", "country": "DE"}
TABLE = [
    {
        "name": "Big lamp",
        "size": 5,
        "weight": 2.5,
        "price": {"value": 30, "code": "usd"},
        "day": "2026-01-31",
        "hour": "09:00:00",
        "sold": True,
        "tags": ["new", "Warm light"],
        "colour": "red",
        "place": {"latitude": 1, "longitude": 2, "display": "Here"},
        "maker": MAKERS,
    },
    {
        "name": "small LAMP",
        "size": 2,
        "weight": 0.5,
        "price": {"value": 10, "code": "usd"},
        "day": "2026-03-01T12:00:00Z",
        "hour": "18:30:00",
        "sold": False,
        "tags": [],
        "colour": "blue",
        "place": None,
        "maker": {**MAKERS, "country": "FR"},
    },
    {"name": "thing"},
]


async def found(source: str) -> list[str]:
    """Return the texts of what a query of items gives."""
    gadgets = Gadgets()
    gadgets.tables["items"] = TABLE
    async with assistant(service(gadgets, ITEMS)) as it:
        return texts(await program(it, source.replace("ITEMS", "@org.prolocutor.gadgets.items()")))


BIG, SMALL, THING = "Big lamp", "small LAMP", "thing"
NOTHING = ["Sorry, I did not find any result."]


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ('name == "Big lamp"', [BIG]),
        ('name == "big lamp"', []),
        ('name =~ "lamp"', [BIG, SMALL]),
        ('name ~= "the big lamp is here"', [BIG]),
        ('starts_with(name, "BIG")', [BIG]),
        ('ends_with(name, "lamp")', [BIG, SMALL]),
        ('prefix_of(name, "things")', [THING]),
        ('suffix_of(name, "a thing")', [THING]),
        ("size >= 5", [BIG]),
        ("size <= 2", [SMALL]),
        ("size > 2", [BIG]),
        ("size < 5", [SMALL]),
        ("!(size < 5)", [BIG, THING]),
        ("weight >= 1000g", [BIG]),
        ("weight < 2lb", [SMALL]),
        ("price >= 20$usd", [BIG]),
        ("price >= 1$eur", []),
        ("price == 10$usd", [SMALL]),
        ("day >= new Date(2026, 2, 1)", [SMALL]),
        ("day == new Date(2026, 1, 31)", [BIG]),
        ("day <= $now", [BIG, SMALL]),
        ("hour > new Time(12, 0)", [SMALL]),
        ("sold == true", [BIG]),
        ("sold == false", [SMALL]),
        ('contains(tags, "new")', [BIG]),
        ('contains(tags, "New")', []),
        ('contains~(tags, "LIGHT")', [BIG]),
        ('~contains(tags, "brand new")', [BIG]),
        ('in_array(name, ["thing", "other"])', [THING]),
        ('in_array~(name, ["lamp"])', [BIG, SMALL]),
        ('~in_array(name, ["my thing"])', [THING]),
        ("colour == enum(red)", [BIG]),
        ('place == new Location(1, 2, "There")', [BIG]),
        ('place == new Location("here")', [BIG]),
        ('maker.country == "FR"', [SMALL]),
        ('size >= 2 && name =~ "big" || name == "thing"', [BIG, THING]),
        ("true", [BIG, SMALL, THING]),
        ("false", []),
    ],
)
async def test_a_filter_keeps_matching_results(condition: str, names: list[str]) -> None:
    assert await found(f"ITEMS filter {condition};") == (names or NOTHING)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("sort(size asc of ITEMS);", [SMALL, BIG, THING]),
        ("sort(size desc of ITEMS);", [BIG, SMALL, THING]),
        ("sort(name asc of ITEMS);", [BIG, SMALL, THING]),
        ("sort(day desc of ITEMS)[1];", [SMALL]),
        ("ITEMS[2];", [SMALL]),
        ("ITEMS[-1];", [THING]),
        ("ITEMS[9];", NOTHING),
        ("ITEMS[1, 3];", [BIG, THING]),
        ("ITEMS[2:5];", [SMALL, THING]),
        ("count(ITEMS);", ["The count is 3."]),
        ("sum(size of ITEMS);", ["The size is 7."]),
        ("avg(size of ITEMS);", ["The size is 3.5."]),
        ("max(price of ITEMS);", ["The price is 30 USD."]),
        ("min(day of ITEMS);", ["The day is 2026-01-31."]),
        ("sum(price of ITEMS);", ["The price is 40 USD."]),
        ("sum(weight of ITEMS);", ["The weight is 3 kg."]),
        ("sum(size of ITEMS filter false);", NOTHING),
        ("count(ITEMS filter false);", ["The count is 0."]),
        ("[name, size] of ITEMS[1];", ["name: Big lamp, size: 5"]),
    ],
)
async def test_results_are_ordered_cut_and_counted(source: str, said: list[str]) -> None:
    assert await found(source) == said


async def test_results_of_a_call_go_to_the_next_by_name() -> None:
    gadgets = Gadgets()
    source = (
        "@com.twitter.home_timeline()[1:2] => @com.youtube.search_videos(query=text) "
        "=> @com.twitter.post_picture(caption=title, picture_url=video_url);"
    )
    async with running(gadgets) as it:
        turn = await program(it, source)
    assert texts(turn) == ["Done."]
    assert gadgets.calls_of("search_videos") == [{"query": "foo is here"}, {"query": "Bar FOO"}]
    assert gadgets.calls_of("post_picture") == 2 * [
        {"caption": "LOL", "picture_url": "http://www.youtube.com"}
    ]


async def test_a_whole_result_goes_on_as_one_text() -> None:
    gadgets = Gadgets()
    source = "@com.twitter.home_timeline()[1] => @com.twitter.post(status=$result);"
    async with running(gadgets) as it:
        await program(it, source)
        await say(it, "yes")
    assert gadgets.calls_of("post") == [{"status": "alice: foo is here"}]


async def test_many_results_are_shown_page_by_page() -> None:
    gadgets = Gadgets()
    gadgets.tables["home_timeline"] = [{**TWEETS[0], "text": str(n)} for n in range(25)]
    async with running(gadgets) as it:
        pages = [await program(it, "@com.twitter.home_timeline() filter likes > 2;")]
        while messages(pages[-1])[-1]["type"] == "button":
            more = messages(pages[-1])[-1]["json"]
            pages.append(await it.turn("More", user="ann", parsed=more))
    said = [texts(page) for page in pages]
    assert len(said[0]) == 11
    assert said[0][9:] == ["alice: 9", "And 15 more."]
    assert said[1][0] == "alice: 10"
    assert said[1][9:] == ["alice: 19", "And 5 more."]
    assert said[2] == [f"alice: {n}" for n in range(20, 25)]


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        ("nonsense", "expected an object with outputs"),
        ([{"nothing": 1}], "expected outputs: text, author, hashtags, likes"),
        ({"error": "the line is down"}, "the line is down"),
        ([1], "expected an object with outputs"),
    ],
)
async def test_a_bad_reply_is_an_error_of_the_app(reply: Any, what: str) -> None:
    gadgets = Gadgets()
    gadgets.tables["home_timeline"] = reply
    async with running(gadgets) as it:
        turn = await program(it, "@com.twitter.home_timeline();")
    [said] = texts(turn)
    assert said.startswith("Twitter had an error: ")
    assert what in said
    assert turn.ask is None


async def test_a_skill_that_fails_ends_its_statement_and_no_other() -> None:
    gadgets = Gadgets()
    gadgets.failing = {"get_comic"}
    async with running(gadgets) as it:
        turn = await program(it, "@com.xkcd.get_comic();\ncount(@com.twitter.home_timeline());")
    first, second = texts(turn)
    assert first.startswith("xkcd had an error: ")
    assert second == "The count is 3."


async def test_a_program_is_out_of_time_before_its_turn_is() -> None:
    async def slow(request: Any) -> Any:
        await asyncio.sleep(30)

    manifest = "class @org.prolocutor.gadgets { query wait(out text : String); }"
    skill = service(Gadgets(), manifest)
    skill = type(skill)("gadgets", slow, timeout=30.0, card=skill.card)
    async with assistant(skill, deadline=0.5) as it:
        turn = await program(it, "@org.prolocutor.gadgets.wait();")
    [said] = texts(turn)
    assert said.startswith("gadgets had an error: ")


async def test_a_program_makes_so_many_calls_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "MOST_CALLS", 3)
    gadgets = Gadgets()
    source = "@com.twitter.home_timeline() => @com.youtube.search_videos(query=text);"
    async with running(gadgets) as it:
        turn = await program(it, source)
    assert len(gadgets.asked) == 3
    assert texts(turn) == ["Sorry, that did not work: a program makes at most 3 calls at once."]


FORMATS = """
class @org.prolocutor.gadgets {
  query all(out title : String, out url : Entity(tt:url), out none : String)
    #_[formatted=["Look: ${title}", "${none}",
      {type="picture", url="${url}", alt="${title}"},
      {type="rdl", webCallback="${url}", displayTitle="${title}", displayText="${none}"},
      {type="result", fallback="It is ${title}."},
      {type="nonsense", text="${title}"},
      {type="button", title="Go", json={program="@a.b();"}}]];
  query said(out value : Measure(C)) #_[result=["it is ${value}"]];
}
"""


async def test_a_manifest_says_how_results_are_shown() -> None:
    gadgets = Gadgets()
    url = "https://example.org/"
    gadgets.tables |= {"all": {"title": "Art", "url": url}, "said": {"value": 21.5}}
    async with assistant(service(gadgets, FORMATS)) as it:
        shown = messages(await program(it, "@org.prolocutor.gadgets.all();"))
        said = texts(await program(it, "@org.prolocutor.gadgets.said();"))
    assert [{key: one[key] for key in one if key != "icon"} for one in shown] == [
        {"type": "text", "text": "Look: Art"},
        {"type": "picture", "url": url, "alt": "Art"},
        {"type": "rdl", "rdl": {"webCallback": url, "displayTitle": "Art"}},
        {
            "type": "result",
            "fallback": "It is Art.",
            "result": {"title": "Art", "url": url, "none": None},
        },
        {"type": "button", "title": "Go", "json": {"program": "@a.b();"}},
    ]
    assert said == ["it is 21.5 °C"]


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("it is ${value}", "it is 21.5 °C"),
        ("it is ${value} C", "it is 21.5 C"),
        ("it is ${value}°C.", "it is 21.5°C."),
        ("it is ${value} °C now", "it is 21.5 °C now"),
        ("it is ${value} Celsius", "it is 21.5 °C Celsius"),
        ("it is ${value}, Cold", "it is 21.5 °C, Cold"),
    ],
)
async def test_a_unit_is_said_once(template: str, shown: str) -> None:
    gadgets = Gadgets()
    gadgets.tables["said"] = {"value": 21.5}
    manifest = f"""class @org.prolocutor.gadgets {{
      query said(out value : Measure(C)) #_[formatted=["{template}"]];
    }}"""
    async with assistant(service(gadgets, manifest)) as it:
        turn = await program(it, "@org.prolocutor.gadgets.said();")
    assert texts(turn) == [shown]
