"""The page before the demo itself: said, pressed, typed, uploaded, and found again."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.acceptance.commands import Commands
from tests.acceptance.page.frames import log
from tests.acceptance.page.scripted import harmed
from tests.acceptance.page.visits import a_visit, paste, upload

pytestmark = pytest.mark.browser


RINGING = "Your timer is over: 1 second."
MONITOR = "monitor(@org.prolocutor.clock.current());"
WATCHING = "Okay, I'm going to notify you of the time whenever it changes."
ADDING = "What shall I put on your list?"
SURE = "Okay, so you want me to put “milk” on your todo list. Is that right?"


@contextmanager
def a_tab(visit: BrowserContext, url: str) -> Iterator[Page]:
    page = visit.new_page()
    page.goto(url)
    expect(page.get_by_text("Connected")).to_be_visible()
    yield page
    assert harmed(page) == []
    page.close()


def say(page: Page, text: str, *replies: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.keyboard.press("Enter")
    for reply in replies:
        expect(log(page).get_by_text(reply, exact=True)).to_be_visible()


def test_a_conversation_is_the_same_in_two_tabs_and_after_a_restart(
    browser: Browser, commands: Commands
) -> None:
    with a_visit(browser, timezone_id="Asia/Tokyo") as visit:
        with (
            commands.serving() as serving,
            a_tab(visit, serving.url) as one,
            a_tab(visit, serving.url) as other,
        ):
            say(one, "what is 15% of 80?", "15% of 80 = 12")
            say(other, "choose", "Which one would you like?")
            log(one).get_by_role("button", name="Blue").click()
            for page in (one, other):
                expect(log(page).get_by_text("You chose Blue.")).to_be_visible()
                expect(log(page).get_by_role("button", name="Red")).to_have_count(0)
            say(one, "ask for a picture", "Which picture?")
            upload(one)
            sent = log(other).get_by_role("img", name="The picture that you sent")
            expect(sent).to_have_js_property("naturalWidth", 1)
            expect(log(other).get_by_text("You said http")).to_be_visible()

        with commands.serving() as serving, a_tab(visit, serving.url) as page:
            expect(log(page).get_by_text("You said http")).to_be_visible()
            expect(log(page).get_by_text("15% of 80 = 12")).to_be_visible()
            expect(log(page).get_by_text("You chose Blue.")).to_have_count(1)
            sent = log(page).get_by_role("img", name="The picture that you sent")
            expect(sent).to_have_js_property("naturalWidth", 1)
            with urllib.request.urlopen(f"{serving.url}/api/user/almond:local") as answer:
                person = json.load(answer)[-1]["human"]

    assert person["attributes"]["timezone"] == "Asia/Tokyo"


def test_asks_are_answered_by_pressing_and_typing(browser: Browser, commands: Commands) -> None:
    with (
        commands.serving("--store", "memory:") as serving,
        a_visit(browser) as visit,
        a_tab(visit, serving.url) as page,
    ):
        say(page, "ask me", "Do you like questions?")
        page.get_by_role("button", name="Yes", exact=True).click()
        expect(log(page).get_by_text("You said yes.")).to_be_visible()
        say(page, "ask for a date", "Which day?")
        page.get_by_label("A date", exact=True).fill("2026-12-24")
        page.get_by_label("A date", exact=True).press("Enter")
        expect(log(page).get_by_text("You said 2026-12-24.")).to_be_visible()
        say(page, "ask for a password", "Which password? Take none of yours.")
        page.get_by_label("A password", exact=True).fill("sesame")
        page.get_by_role("button", name="Answer", exact=True).click()
        expect(log(page).get_by_text("A password of 6 characters.")).to_be_visible()
        expect(page.get_by_text("sesame")).to_have_count(0)
        say(page, "ask for a number", "Which number?")
        say(page, "what is 15% of 80?", "15% of 80 = 12")
        page.get_by_role("button", name="How this answer came about").last.click()
        panel = page.get_by_role("complementary")
        expect(panel.locator(".hypotheses .chosen")).to_contain_text("calculator")
        expect(panel.locator(".timeline li")).not_to_have_count(0)


def test_a_timer_rings(browser: Browser, commands: Commands) -> None:
    with (
        commands.serving("--store", "memory:") as serving,
        a_visit(browser) as visit,
        a_tab(visit, serving.url) as page,
    ):
        page.evaluate("Document.prototype.hasFocus = () => false")
        say(page, "set a timer for 1 second", "Your timer is over: 1 second.")

        expect(page).to_have_title("● Prolocutor")


def test_all_is_found_again_after_a_kill(browser: Browser, commands: Commands) -> None:
    with a_visit(browser) as visit:
        with commands.serving() as serving, a_tab(visit, serving.url) as page:
            press_paste_upload(page)
            say(page, "ask for a number", "Which number?")
            say(page, "what is 15% of 80?", "15% of 80 = 12")
            say(page, f"\\t {MONITOR}", WATCHING)
            say(page, "set a timer for 1 second", RINGING)
            say(page, "set a timer for 2 seconds")
            say(page, "\\t now => @org.prolocutor.todo.add();", ADDING)
            serving.process.kill()

        with commands.serving() as serving, a_tab(visit, serving.url) as page:
            expect(log(page).get_by_text(ADDING)).to_be_visible()
            expect(log(page).get_by_text("Your timer is over: 2 seconds")).to_be_visible()
            say(page, "milk", SURE)
            page.get_by_role("button", name="Yes", exact=True).click()
            expect(log(page).get_by_text("Your timer is over")).to_have_count(2)
            for text in ("You said yes.", "15% of 80 = 12", WATCHING, RINGING):
                expect(log(page).get_by_text(text, exact=True)).to_have_count(1)
            expect(log(page).get_by_text("You said http")).to_have_count(2)
            say(page, "what is on my todo list?", "Your todo list: 1. milk")
            page.goto(f"{serving.url}/apps")
            expect(page.get_by_text(MONITOR)).to_have_count(1)
            page.get_by_role("button", name="Stop").click()
            expect(page.get_by_text(MONITOR)).to_have_count(0)


def press_paste_upload(page: Page) -> None:
    """Return answers in all ways but typing."""
    say(page, "ask me", "Do you like questions?")
    page.get_by_role("button", name="Yes", exact=True).click()
    expect(log(page).get_by_text("You said yes.")).to_be_visible()
    for give in (paste, upload):
        say(page, "ask for a picture")
        expect(page.locator("[data-ask=picture]")).to_be_visible()
        give(page)
        expect(page.locator("[data-ask=picture]")).to_have_count(0)
