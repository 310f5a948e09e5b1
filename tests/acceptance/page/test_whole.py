"""The page before the demo itself: said, pressed, typed, uploaded, and found again."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.acceptance.commands import Commands
from tests.acceptance.page.frames import PNG, log
from tests.acceptance.page.scripted import harmed
from tests.acceptance.page.visits import a_visit

pytestmark = pytest.mark.browser


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


def upload(page: Page) -> None:
    page.get_by_label("Upload a picture").set_input_files(
        {"name": "lake.png", "mimeType": "image/png", "buffer": PNG}
    )


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
            earlier = page.get_by_role("button", name="Earlier messages")
            if earlier.is_visible():
                earlier.click()
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
        page.get_by_label("A date").fill("2026-12-24")
        page.get_by_label("A date").press("Enter")
        expect(log(page).get_by_text("You said 2026-12-24.")).to_be_visible()
        say(page, "ask for a password", "Which password? Take none of yours.")
        page.get_by_label("A password").fill("sesame")
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
