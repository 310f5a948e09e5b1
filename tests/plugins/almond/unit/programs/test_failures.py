"""What goes wrong with a program is said of that statement alone, and breaks nothing."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from prolocutor.contracts.programs import ProgramRun, ProgramSource, ProgramStart
from prolocutor.plugins.almond.programs.executor import Executor
from prolocutor.plugins.almond.thingtalk import parsing
from tests.model_store import ModelStore
from tests.plugins.almond.unit.programs.gadgets import (
    Gadgets,
    begun,
    program,
    running,
    service,
    texts,
)
from tests.unit.assistant.talks import assistant

MANIFEST = """
class @org.prolocutor.gadgets {
  query all(in opt mark : String, out text : String, out n : Number, out price : Currency);
  action take(in req text : String) #[confirm=false];
}
"""
ALL = "@org.prolocutor.gadgets.all()"
TAKING = '@org.prolocutor.gadgets.take(text="x");'


async def said(source: str, *rows: dict[str, Any]) -> list[str]:
    """Return what is said of a program where the skill gives these results."""
    gadgets = Gadgets()
    gadgets.tables["all"] = list(rows)
    async with assistant(service(gadgets, MANIFEST)) as it:
        return texts(await program(it, source))


@pytest.mark.parametrize("operator", ["sum", "avg"])
@pytest.mark.parametrize("numbers", [[1e308, 1e308], [10**400, 1.5]])
async def test_numbers_too_large_to_add_are_told(operator: str, numbers: list[Any]) -> None:
    rows = [{"n": n} for n in numbers]
    told = await said(f"{operator}(n of {ALL});", *rows)
    assert told == ["Sorry, that did not work: n is too large to be added."]


async def test_the_average_of_money_is_money() -> None:
    rows = [{"price": {"value": value, "code": "usd"}} for value in (1, 2)]
    assert await said(f"avg(price of {ALL});", *rows) == ["The price is 1.5 USD."]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("attimer(time=[]);", "an attimer needs a time of day"),
        ("timer(base=new Date(9999, 12, 31), interval=1h);", "the program would never run"),
    ],
)
async def test_a_timer_that_would_never_ring_is_not_started(source: str, why: str) -> None:
    async with running(Gadgets()) as it:
        turn = await program(it, source)
        apps = await it.programs.apps("ann")
    assert texts(turn) == [f"Sorry, that did not work: {why}."]
    assert apps == []


async def test_a_statement_that_cannot_be_started_leaves_the_others_done() -> None:
    gadgets = Gadgets()
    async with assistant(service(gadgets, MANIFEST)) as it:
        source = f"{TAKING} timer(base=$now, interval=1s); {TAKING}"
        turn = await program(it, source)
    why = "Sorry, that did not work: a timer goes off every 10 seconds at most."
    assert texts(turn) == ["Done.", why, "Done."]
    assert len(gadgets.calls_of("take")) == 2


async def test_a_result_without_a_field_of_the_action_is_passed_over() -> None:
    gadgets = Gadgets()
    gadgets.tables["all"] = [{"text": None, "n": 1}, {"text": "a"}, {"n": 2}]
    async with assistant(service(gadgets, MANIFEST)) as it:
        turn = await program(it, f"{ALL} => @org.prolocutor.gadgets.take(text=text);")
    why = "Sorry, that did not work: there was a result without a value for text."
    assert texts(turn) == ["Done.", why]
    assert gadgets.calls_of("take") == [{"text": "a"}]


async def test_a_skills_own_words_of_an_error_are_told() -> None:
    gadgets = Gadgets()
    gadgets.tables["all"] = {"error": "the shop is closed."}
    async with assistant(service(gadgets, MANIFEST)) as it:
        turn = await program(it, f"{ALL};")
    assert texts(turn) == ["gadgets had an error: the shop is closed."]


async def test_a_question_in_a_refusal_ends_as_one() -> None:
    async with running(Gadgets()) as it:
        turn = await program(it, "@org.prolocutor.gadget.ask();")
    assert texts(turn)[0].endswith("did you mean 'org.prolocutor.gadgets'?")


async def test_each_result_of_what_is_created_is_one_entry() -> None:
    gadgets = Gadgets()
    gadgets.tables["all"] = [{"n": 1}]
    async with assistant(service(gadgets, MANIFEST)) as it:
        created = await it.agenda.start_program("ann", f"count({ALL}); {TAKING}")
        both = await it.agenda.start_program("ann", f"timer(base=$now, interval=1h); {TAKING}")
    assert [result.raw for result in created.results] == [{"count": 1}]
    assert created.code == f"count({ALL}); {TAKING}"
    assert created.errors == []
    assert both.errors == ["what goes on has to be created alone"]
    assert len(gadgets.calls_of("take")) == 1


class Many:
    """A caller whose skill gives as many results as are looked at."""

    async def call(self, service: str, request: dict[str, Any], **how: Any) -> Any:
        return [{"n": n} for n in range(1000)]


async def long_filter(seconds: float) -> tuple[ProgramRun, int]:
    """Filter a lot, and tell how often the event loop went round meanwhile."""
    executor = Executor([service(Gadgets(), MANIFEST)], Many(), ModelStore(), deadline=seconds)
    source = f"{ALL} filter {' || '.join(200 * ['n == -1'])};"
    start = ProgramStart(opened=await begun(), source=ProgramSource(text=source))
    running, rounds = asyncio.ensure_future(executor.run(start)), 0
    while not running.done():
        await asyncio.sleep(0)
        rounds += 1
    return await running, rounds


async def test_a_long_filter_leaves_room_for_others() -> None:
    run, rounds = await long_filter(60.0)
    assert run.words.messages[-1]["text"] == "Sorry, I did not find any result."
    assert rounds > 5


async def test_a_filter_ends_when_its_time_is_over() -> None:
    run, _ = await long_filter(0.05)
    assert run.words.messages[-1]["text"] == "Sorry, that did not work: it took too long."


async def test_without_lark_a_program_is_refused_and_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "lark", None)
    monkeypatch.delitem(sys.modules, "prolocutor.plugins.almond.thingtalk.grammars", raising=False)
    parsing._grammars.cache_clear()

    async with assistant(service(Gadgets())) as it:
        refused = await program(it, "@com.twitter.home_timeline();")
        answered = await it.turn("hello", user="ann")

    parsing._grammars.cache_clear()
    assert "pip install 'prolocutor[almond]'" in refused.reply.text
    assert answered.reply.active_skill == "gadgets"
