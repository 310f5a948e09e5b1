"""Programs that go on running: monitors and timers, what they tell and when, and their end."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.programs import ProgramInfo, ProgramSource, ProgramStart, RunningProgram
from prolocutor.contracts.store import AgendaEntry
from prolocutor.plugins.almond.programs import executor
from prolocutor.plugins.almond.programs.evaluating import ResultRow
from prolocutor.plugins.almond.programs.failures import ProgramFailure
from prolocutor.plugins.almond.programs.program_user import idle_user
from prolocutor.plugins.almond.programs.resolving import ValueResolver
from prolocutor.plugins.almond.programs.running_apps import PROGRAMS, read_app
from prolocutor.plugins.almond.programs.sources import parse_program
from prolocutor.plugins.almond.programs.streams import fresh, next_due
from prolocutor.plugins.almond.thingtalk.checking import check
from prolocutor.plugins.almond.thingtalk.parsing import parse
from prolocutor.plugins.almond.thingtalk.tree import DeviceSelector, Invocation, Monitor, Program
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from tests.model_store import ModelStore
from tests.plugins.almond.unit.programs.gadgets import (
    TWEETS,
    Gadgets,
    Keys,
    begun,
    feed_texts,
    program,
    running,
    service,
    texts,
)
from tests.plugins.almond.unit.thingtalk.devices import manifests
from tests.unit.assistant.talks import assistant

TIMES = st.integers(1, 5)
TWEETING = "monitor(@com.twitter.home_timeline());"
NEWS = {"text": "news", "author": "carol", "hashtags": [], "likes": 0}


async def entries(it: Assistant) -> list[AgendaEntry]:
    """Return the entries of ann's running programs."""
    return await it.store.entries("ann", PROGRAMS)


async def ring(it: Assistant) -> list[str]:
    """Let all of ann's running programs be due now, and give what is said."""
    before = await it.store.feed_end("ann")
    for entry in await entries(it):
        await it.store.schedule(replace(entry, due=time.time() - 1))
    await it.notify("ann", "That is all.")
    *said, last = await feed_texts(it, before)
    assert last == "That is all."
    return said


async def test_a_monitor_tells_new_results_and_nothing_twice() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await program(it, TWEETING)
        silent = await ring(it)
        gadgets.tables["home_timeline"] = [NEWS, *TWEETS]
        told = await ring(it)
        again = await ring(it)
    assert silent == []
    assert told == ["Notification from Twitter: carol: news"]
    assert again == []


async def test_an_edge_tells_when_its_condition_becomes_true() -> None:
    gadgets = Gadgets()
    told = []
    async with running(gadgets) as it:
        await program(
            it, "edge (monitor(@thermostat.get_temperature())) on value >= 70F => notify;"
        )
        for value in (10, 25, 30, 12, 26):
            gadgets.tables["get_temperature"] = {"value": value}
            told.append(await ring(it))
        [app] = await it.programs.apps("ann")
    warm = "Notification from thermostat: value: {} °C"
    assert told == [[], [warm.format(25)], [], [], [warm.format(26)]]
    assert app.description.endswith("when value >= 70F becomes true")


async def test_several_news_come_under_one_title() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await program(it, TWEETING)
        gadgets.tables["home_timeline"] = [NEWS, {**NEWS, "author": "dan"}]
        told = await ring(it)
    assert told == ["Notification from Twitter", "carol: news", "dan: news"]


async def test_a_monitor_of_some_fields_sees_no_others() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await program(it, "monitor(author of @com.twitter.home_timeline());")
        gadgets.tables["home_timeline"] = [{**TWEETS[0], "text": "other"}]
        same = await ring(it)
        gadgets.tables["home_timeline"] = [NEWS]
        told = await ring(it)
    assert same == []
    assert told == ["Notification from Twitter: carol: news"]


async def test_a_filter_on_a_stream_passes_matching_results() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await program(it, "monitor(@thermostat.get_temperature()) filter value >= 70F;")
        gadgets.tables["get_temperature"] = {"value": 10}
        cold = await ring(it)
        gadgets.tables["get_temperature"] = {"value": 25}
        warm = await ring(it)
    assert cold == []
    assert warm == ["Notification from thermostat: value: 25 °C"]


async def test_a_monitor_acts_on_new_results() -> None:
    gadgets = Gadgets()
    source = (
        "monitor(@com.xkcd.get_comic()) => "
        "@com.twitter.post_picture(caption=title, picture_url=picture_url);"
    )
    async with running(gadgets) as it:
        await program(it, source)
        gadgets.tables["get_comic"] = {"title": "New", "picture_url": "u"}
        told = await ring(it)
    assert told == ["Notification from xkcd: Done."]
    assert gadgets.calls_of("post_picture")[1:] == [{"caption": "New", "picture_url": "u"}]


async def test_a_failing_look_is_told_once_and_loses_nothing() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await program(it, TWEETING)
        gadgets.failing = {"home_timeline"}
        [first] = await ring(it)
        [listed] = await it.programs.apps("ann")
        second = await ring(it)
        gadgets.failing = set()
        gadgets.tables["home_timeline"] = [NEWS, *TWEETS]
        well = await ring(it)
        [after] = await it.programs.apps("ann")
    assert first.startswith("Twitter had an error: ")
    assert second == []
    assert well == ["Notification from Twitter: carol: news"]
    assert listed.error == first
    assert after.error is None


async def test_a_monitor_goes_on_after_a_restart(tmp_path: Path) -> None:
    gadgets, file = Gadgets(), tmp_path / "dialogs.db"
    async with assistant(service(gadgets), store=SqliteStore(file)) as it:
        await program(it, TWEETING)
    gadgets.tables["home_timeline"] = [NEWS, *TWEETS]
    async with assistant(service(gadgets), store=SqliteStore(file)) as it:
        told = await ring(it)
        [app] = await it.programs.apps("ann")
    assert told == ["Notification from Twitter: carol: news"]
    assert app.code == TWEETING


async def test_a_timer_runs_its_query_each_time() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        turn = await program(it, "timer(base=$now, interval=1h) => @com.xkcd.get_comic();")
        told = [await ring(it), await ring(it)]
        [entry] = await entries(it)
    assert texts(turn) == ["Okay, I'm going to notify you of comic every hour."]
    assert told == 2 * [["Notification from xkcd", "title: Sheep"]]
    assert 3500 < entry.due - time.time() <= 3600


async def test_a_timer_tells_its_action_once_and_then_only_failures() -> None:
    gadgets = Gadgets()
    source = "timer(base=$now, interval=1h) => @security-camera.set_power(power=enum(on));"
    async with running(gadgets) as it:
        await program(it, source)
        told = [await ring(it) for _ in range(3)]
        gadgets.failing = {"set_power"}
        [failed] = await ring(it)
    said = "Done: set power with power “on” every hour. From now on I say so only if it fails."
    assert told == [[f"Notification from security-camera: {said}"], [], []]
    assert failed.startswith("security-camera had an error: ")
    assert len(gadgets.calls_of("set_power")) == 4


@given(
    at=st.floats(1.7e9, 2.1e9), interval=st.integers(10, 10**6), late=st.floats(0, 5), times=TIMES
)
@settings(max_examples=60, deadline=None)
def test_a_timer_goes_off_once_in_each_interval(
    at: float, interval: int, late: float, times: int
) -> None:
    assert asyncio.run(_gaps(at, interval, late, times)) == [
        pytest.approx(interval, abs=1e-3) for _ in range(times)
    ]


async def _gaps(at: float, interval: int, late: float, times: int) -> list[float]:
    """Return the seconds between the times at which a timer that was started is due."""
    now = [at]
    turn = await begun(at)
    skills = [service(Gadgets())]
    it = executor.Executor(skills, Keys(), ModelStore(), deadline=60.0, clock=lambda: now[0])
    source = f"timer(base=$now, interval={interval}s);"
    [entry] = (await it.run(ProgramStart(opened=turn, source=ProgramSource(text=source)))).entries
    dues = [at]
    for _ in range(times):
        dues.append(entry.due)
        now[0] = entry.due + late
        [entry] = (await it.due(entry)).entries
    return [later - earlier for earlier, later in itertools.pairwise(dues)]


def test_a_time_of_day_is_that_of_the_servers_summer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    (statement,) = check(parse_program("attimer(time=[new Time(12, 30)]);"), manifests()).statements
    spring = datetime(2026, 3, 28, 13, tzinfo=UTC).timestamp()
    person = idle_user("ann", "main", "r", spring, None)
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        due = next_due(statement, ValueResolver(person), spring)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert due == datetime(2026, 3, 29, 10, 30, tzinfo=UTC).timestamp()


async def test_a_bare_timer_tells_the_time() -> None:
    async with running(Gadgets()) as it:
        await program(it, "attimer(time=[new Time(12, 30)]);")
        [told] = await ring(it)
    assert told.startswith("Notification from timer: It is ")


async def test_a_program_is_listed_and_stopped() -> None:
    async with running(Gadgets()) as it:
        await program(it, TWEETING)
        [app] = await it.programs.apps("ann")
        others = await it.programs.apps("bob")
        by_others = await it.programs.delete("bob", app.id)
        stopped = await it.programs.delete("ann", app.id)
        again = await it.programs.delete("ann", app.id)
        left = await it.programs.apps("ann")
    assert app == RunningProgram(
        id=app.id,
        name="Twitter",
        description="notify you of tweets whenever it changes",
        code=TWEETING,
        icon="gadgets",
    )
    assert others == []
    assert by_others is False
    assert stopped is True
    assert again is False
    assert left == []


async def test_a_program_whose_skill_is_gone_says_so_and_ends(tmp_path: Path) -> None:
    file = tmp_path / "dialogs.db"
    async with assistant(service(Gadgets()), store=SqliteStore(file)) as it:
        await program(it, TWEETING)
    bare = service(Gadgets(), "class @org.prolocutor.gadgets { }")
    async with assistant(bare, store=SqliteStore(file)) as it:
        [told] = await ring(it)
        left = await it.programs.apps("ann")
    assert told.startswith("A program of yours is over: line 1, column 9: @com.twitter is not")
    assert left == []


async def test_so_many_programs_run_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "MAX_PROGRAMS", 2)
    async with running(Gadgets()) as it:
        for _ in range(2):
            await program(it, TWEETING)
        turn = await program(it, TWEETING)
        running_now = await it.programs.apps("ann")
    assert "which is the most; stop one at /apps" in turn.reply.text
    assert len(running_now) == 2


async def test_a_program_is_created_without_a_conversation() -> None:
    async with running(Gadgets()) as it:
        created = await it.programs.create("ann", TWEETING, ProgramInfo(name="Watch"))
        [app] = await it.programs.apps("ann")
        counting = "count(@com.twitter.home_timeline());"
        counted = await it.programs.create("ann", counting, ProgramInfo())
        left = await it.programs.apps("ann")
    result = created.results[0]
    assert created.id == app.id
    assert created.errors == []
    assert app.name == "Watch"
    assert result.type == "com.twitter:home_timeline"
    assert [one.raw["text"] for one in created.results] == [tweet["text"] for tweet in TWEETS]
    assert [one["text"] for one in result.formatted] == ["alice: foo is here"]
    assert [one.raw for one in counted.results] == [{"count": 3}]
    assert re.fullmatch(r"uuid-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", created.id)
    assert left == [app]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("@a.b();", "@a is not known"),
        ("@com.twitter.post();", "values are missing, which only a conversation asks for: status"),
        ("nonsense", "line 1"),
        ('$answer("x");', "I did not understand that"),
        ("timer(base=$now, interval=1s);", "a timer goes off every 10 seconds at most"),
    ],
)
async def test_a_failed_creation_is_told(code: str, error: str) -> None:
    async with running(Gadgets()) as it:
        created = await it.programs.create("ann", code, ProgramInfo())
        left = await it.programs.apps("ann")
    assert error in created.errors[0]
    assert created.results == []
    assert left == []


# -- when and what ----------------------------------------------------------------------------

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC).timestamp()
HOUR = 3600.0


def due(source: str, now: float = NOON, timezone: str = "Europe/Berlin") -> float | None:
    """Tell when a program is due next, in hours from then."""
    tree = parse(source)
    assert isinstance(tree, Program)
    [statement] = check(tree, manifests()).statements
    person = idle_user("ann", "main", "t", now, timezone)
    at = next_due(statement, ValueResolver(person), now)
    return None if at is None else (at - now) / HOUR


@pytest.mark.parametrize(
    ("source", "hours"),
    [
        ("timer(base=$now, interval=2h);", 2.0),
        ("timer(base=$now, interval=2h, frequency=4);", 0.5),
        ('timer(base=new Date("2026-03-28T11:30:00Z"), interval=1h);', 0.5),
        ('timer(base=new Date("2026-03-28T15:00:00Z"), interval=1h);', 3.0),
        ("attimer(time=[new Time(14, 0)]);", 1.0),
        ("attimer(time=[new Time(12, 0), new Time(15, 0)]);", 2.0),
        ("attimer(time=[new Time(13, 0)]);", 23.0),
        ("attimer(time=[new Time(14, 0)], expiration_date=new Date(2026, 3, 1));", None),
        ("monitor(@com.twitter.home_timeline());", 1 / 6),
        ("monitor(@com.xkcd.get_comic());", 24.0),
        ("monitor(@thermostat.get_temperature());", 1 / 6),
    ],
)
def test_a_stream_is_due_when_it_says(source: str, hours: float | None) -> None:
    assert due(source) == (hours if hours is None else pytest.approx(hours))


@pytest.mark.parametrize(
    "source", ["timer(base=$now, interval=9s);", "timer(base=$now, interval=0s);"]
)
def test_a_timer_that_is_too_quick_is_refused(source: str) -> None:
    with pytest.raises(ProgramFailure, match="every 10 seconds at most"):
        due(source)


WATCHED = Monitor(Invocation(DeviceSelector("a"), "b"))


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=6))
@settings(max_examples=60, deadline=None)
def test_a_new_result_was_missing_in_the_last_poll(looks: list[list[int]]) -> None:
    seen: Any = None
    before: set[int] = set()
    for look in looks:
        new, seen = fresh(WATCHED, [ResultRow(fields={"n": n}) for n in look], seen)
        told = [row.fields["n"] for row in new]
        assert told == [n for n in dict.fromkeys(look) if n not in before]
        before = set(look)


async def test_an_entry_carries_all_of_its_program() -> None:
    async with running(Gadgets()) as it:
        await program(it, TWEETING)
        [entry] = await entries(it)
    app = read_app(entry)
    assert entry.key == app.id
    assert app.runs == 1
    assert len(app.seen or ()) == 3
