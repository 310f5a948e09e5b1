"""While a turn runs, the page shows who is asked, then the words as they come."""

import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from prolocutor import Pipeline, Service
from prolocutor.connectors.parts.worker_threads import WorkerThreads
from tests.acceptance.page.frames import HOSTILE, log, message, said
from tests.acceptance.page.scripted import NOTHING, PATIENCE, Frame, Server, harmed
from tests.acceptance.page.visits import a_page

pytestmark = pytest.mark.browser


def event(kind: str, **fields: Any) -> Frame:
    return {"type": "event", "event": {"type": kind, **fields}}


def asked(*names: str) -> list[Frame]:
    return [event("ServiceAsked", service=name, stage="skills") for name in names]


def delta(text: Any, skill: Any = "hotel") -> Frame:
    return event("Delta", skill=skill, text=text)


def provisional(page: Page) -> Any:
    return log(page).get_by_label("Assistant, still speaking")


def test_who_is_asked_is_shown_then_the_words_then_the_reply(page: Page, server: Server) -> None:
    server.opened()
    server.send(said(0, "hi"), event("TurnStarted", turn_id="1", dialog_id="2"))
    server.send(event("ServiceAsked", service="ner", stage="annotators"), *asked("hotel", "bank"))
    expect(log(page).get_by_text("asking hotel, bank …", exact=True)).to_be_visible()

    settled = event("ServiceSettled", service="bank", stage="skills", outcome="done", seconds=1)
    server.send(settled)
    expect(log(page).get_by_text("asking hotel …", exact=True)).to_be_visible()

    server.send(delta("There are "), delta("two rooms."))
    expect(provisional(page)).to_contain_text("There are two rooms.")
    server.send(event("Replaced"))
    expect(provisional(page)).to_have_count(0)
    server.send(delta("Anoth"))
    expect(provisional(page)).to_contain_text("Anoth")

    server.send(message(1, text="Three rooms."), delta("er"), NOTHING, delta("late"))
    expect(log(page).get_by_text("Three rooms.", exact=True)).to_be_visible()
    expect(provisional(page)).to_have_count(0)
    expect(log(page)).not_to_contain_text("Anoth")


def test_provisional_words_are_text_whatever_they_look_like(page: Page, server: Server) -> None:
    server.opened()
    server.send(
        delta("before any turn"),
        said(0, "hi"),
        event("TurnStarted", turn_id=HOSTILE),
        *asked(HOSTILE, *"abcdef"),
        {"type": "event", "event": None},
        event("__proto__", text=HOSTILE),
        delta({"__html": HOSTILE}),
        delta(HOSTILE, HOSTILE),
        delta("That was all."),
    )

    expect(provisional(page)).to_contain_text("That was all.")
    expect(provisional(page)).to_contain_text("<b>bold</b>")
    expect(log(page)).not_to_contain_text("before any turn")
    assert harmed(page) == []


def test_words_are_void_where_the_line_breaks(page: Page, server: Server) -> None:
    server.opened()
    server.send(said(0, "hi"), event("TurnStarted"), delta("Half a rep"))
    expect(provisional(page)).to_be_visible()
    server.begin(said(0, "hi"), NOTHING)
    server.hang_up()

    server.opened()
    expect(page.get_by_text("Connected")).to_be_visible()
    expect(provisional(page)).to_have_count(0)


def test_the_page_shows_what_the_assistant_does(browser: Browser) -> None:
    gates = {name: threading.Event() for name in ("poet", "bank")}
    threads = WorkerThreads("gates", 2)

    async def wait_for(name: str) -> None:
        await threads.run(lambda _: gates[name].wait(PATIENCE), None, lambda _: ())

    async def poet(request: Any) -> AsyncIterator[str]:
        yield "Roses are "
        await wait_for("poet")
        yield "red."

    async def bank(request: Any) -> list[Any]:
        await wait_for("bank")
        return []

    skills = [Service(one.__name__, one, timeout=60.0) for one in (poet, bank)]
    with (
        Server(Pipeline(skills=skills), scripted=False) as server,
        a_page(browser, server) as page,
    ):
        expect(page.get_by_text("Connected")).to_be_visible()
        page.get_by_label("Your message").fill("a poem")
        page.keyboard.press("Enter")
        expect(log(page).get_by_text("asking poet, bank …", exact=True)).to_be_visible()
        gates["bank"].set()
        expect(provisional(page)).to_contain_text("Roses are")
        gates["poet"].set()
        expect(log(page).get_by_text("Roses are red.", exact=True)).to_be_visible()
        expect(provisional(page)).to_have_count(0)
