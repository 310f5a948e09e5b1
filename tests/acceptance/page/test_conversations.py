"""Several conversations: their list, search in them, and a person who has the keyboard alone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.acceptance.page.agents import PIPELINE
from tests.acceptance.page.frames import HOSTILE, log
from tests.acceptance.page.scripted import Server
from tests.acceptance.page.visits import a_page

pytestmark = pytest.mark.browser

SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def talking(browser: Browser) -> Iterator[Server]:
    """The page before the door itself."""
    with Server(PIPELINE, scripted=False) as server:
        yield server


@contextmanager
def without_errors(page: Page) -> Iterator[None]:
    """Nothing may stand in the browser's console."""
    told: list[str] = []
    page.on("console", lambda line: told.append(line.text))
    yield
    assert told == []


def ready(page: Page) -> None:
    expect(page.get_by_text("Connected")).to_be_visible()


def say(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.keyboard.press("Enter")
    expect(log(page).locator(".theirs").get_by_text(text)).to_be_visible()


def check_reach(page: Page) -> None:
    """axe finds nothing serious, once nothing fades in any more."""
    page.evaluate(
        "for (const one of document.getAnimations())"
        " if (one.effect.getComputedTiming().endTime < Infinity) one.finish()"
    )
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS] == []


def talks(page: Page) -> list[str]:
    return page.get_by_role("navigation").locator(".talk a").all_inner_texts()


def test_conversations_are_begun_renamed_found_and_deleted(
    browser: Browser, talking: Server
) -> None:
    size = {"width": 1100, "height": 760}
    with a_page(browser, talking, viewport=size) as page, without_errors(page):
        page.reload()
        ready(page)
        say(page, "the first needle in a haystack")
        for number in range(30):
            talking.reply(f"straw {number}")
        page.get_by_role("button", name="New conversation").click()
        expect(log(page).locator(".words")).to_have_count(0)
        say(page, HOSTILE)
        nav = page.get_by_role("navigation")
        expect(nav.locator(".talk a")).to_have_count(2)
        expect(nav.locator(".talk a[aria-current]")).to_contain_text("javascript:window")
        address = page.url

        nav.locator(".talk").first.hover()
        nav.get_by_role("button", name=re.compile("^Rename javascript")).click()
        expect(nav.get_by_label("Title of the conversation")).to_be_focused()
        page.keyboard.type("<b>Mine</b>")
        page.keyboard.press("Enter")
        expect(nav.locator(".talk a").first).to_have_text("<b>Mine</b>")

        nav.get_by_label("Search what was said").fill("NEEDLE first")
        nav.get_by_role("button", name=re.compile("You.*needle")).click()
        lit = log(page).locator(".lit")
        expect(lit).to_contain_text("the first needle")
        expect(lit).to_be_in_viewport()
        page.go_back()
        expect(log(page).locator(".own .words")).to_have_text(HOSTILE)
        assert page.url == address

        nav.get_by_label("Search what was said").fill("")
        nav.get_by_role("button", name="Delete <b>Mine</b>").press("Enter")
        box = page.get_by_role("dialog")
        expect(box).to_contain_text("<b>Mine</b>")
        page.keyboard.press("Escape")
        expect(box).to_have_count(0)
        nav.get_by_role("button", name="Delete <b>Mine</b>").press("Enter")
        box.get_by_role("button", name="Delete", exact=True).click()
        expect(nav.locator(".talk a")).to_have_text(["First needle in a haystack"])
        expect(log(page).locator(".words")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_a_drawer_and_all_is_within_reach(
    browser: Browser, talking: Server, scheme: str
) -> None:
    size = {"width": 390, "height": 844}
    with (
        a_page(browser, talking, viewport=size, color_scheme=scheme, has_touch=True) as page,  # type: ignore[arg-type]
        without_errors(page),
    ):
        page.goto(f"{talking.url}/?id=phone-{scheme}")
        ready(page)
        say(page, f"on the {scheme} way")
        expect(page.get_by_role("navigation")).to_have_count(0)
        check_reach(page)
        page.get_by_role("button", name="Conversations").tap()
        expect(page.get_by_role("navigation").locator(".talk a").first).to_have_text(
            f"On the {scheme} way"
        )
        check_reach(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.keyboard.press("Escape")
        expect(page.get_by_role("navigation")).to_have_count(0)
        expect(page.get_by_role("button", name="Conversations")).to_be_focused()


def test_all_is_done_by_keyboard_alone(browser: Browser, talking: Server) -> None:
    with a_page(browser, talking) as page:
        page.goto(f"{talking.url}/?id=keys")
        ready(page)
        page.keyboard.type("by keys")
        page.keyboard.press("Enter")
        expect(log(page).locator(".theirs .words")).to_have_text("by keys")
        go_to(page, "Edit and ask again")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Other words")).to_be_focused()
        page.keyboard.type(" alone")
        page.keyboard.press("Enter")
        expect(log(page).locator(".theirs .words")).to_have_text("by keys alone")
        go_to(page, "Theme: system")
        for theme in ("light", "dark"):
            page.keyboard.press("Enter")
            expect(page.get_by_role("button", name=f"Theme: {theme}")).to_be_focused()
        expect(page.locator("body")).to_have_css("background-color", "rgb(23, 24, 27)")
        check_reach(page)
        go_to(page, "New conversation")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Your message")).to_be_focused()
        expect(log(page).locator(".words")).to_have_count(0)


def go_to(page: Page, name: str) -> None:
    """Press Tab until what has this name has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        label = page.evaluate(
            "((one) => one === document.body ? '' : one.ariaLabel || one.innerText || '')"
            "(document.activeElement)"
        )
        if str(label).startswith(name):
            return
    raise AssertionError(f"Tab does not lead to {name}")


def test_a_voice_is_taken_after_a_sentence_about_it(browser: Browser, server: Server) -> None:
    with a_page(browser, server) as page:
        page.add_init_script(
            "window.webkitSpeechRecognition = window.SpeechRecognition = class {"
            " start() { const said = [{ transcript: 'hello' }]; said.isFinal = true;"
            " this.onresult({ results: [said] }); this.onend(); } stop() {} abort() {} };"
        )
        info = {"agents": [], "starters": ["Begin here"], "voice": True}
        page.route("**/api/page*", lambda route: route.fulfill(json=info))
        page.reload()
        ready(page)
        expect(page.get_by_role("button", name="Begin here")).to_be_visible()
        page.get_by_role("button", name="Speak", exact=True).click()
        box = page.get_by_role("dialog", name="Before you speak")
        expect(box).to_contain_text("Your browser may send")
        box.get_by_role("button", name="Speak").click()

        expect(page.get_by_label("Your message")).to_have_value("hello")


def test_the_list_is_there_before_anything_is_said(browser: Browser, talking: Server) -> None:
    talking.reply("said elsewhere")
    with a_page(browser, talking) as page:
        page.goto(f"{talking.url}/?id=nothing-yet")
        listed = page.get_by_role("navigation").locator(".talk a")

        expect(listed.first).to_be_visible()
        expect(log(page).locator(".words")).to_have_count(0)


def test_a_conversation_that_is_not_there_is_told_and_equal_titles_have_their_times(
    browser: Browser, talking: Server
) -> None:
    with a_page(browser, talking) as page:
        page.goto(f"{talking.url}/?id=gone")
        told = log(page).get_by_role("alert")
        expect(told).to_contain_text("This conversation is not here")
        for _ in range(2):
            page.get_by_role("button", name="New conversation").last.click()
            ready(page)
            expect(told).to_have_count(0)
            say(page, "the same words again")
        alike = page.get_by_role("navigation").locator(".talk a", has_text="Same words again")

        expect(alike).to_have_count(2)
        expect(alike.last.locator(".when")).to_have_text(re.compile(r"^Today, \d\d:\d\d(:\d\d)?$"))
