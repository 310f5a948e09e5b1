"""What a person chooses: pins, tags, what is put away, files, who is asked, settings."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from prolocutor.plan.pipeline import Pipeline, Service
from tests.acceptance.page.agents import sure
from tests.acceptance.page.frames import HOSTILE, PNG, log
from tests.acceptance.page.scripted import Server
from tests.acceptance.page.test_conversations import check_reach, ready, say
from tests.acceptance.page.visits import a_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def own(browser: Browser) -> Iterator[Server]:
    skills = [Service(name, sure) for name in ("sure", "other")]
    with Server(Pipeline(skills=skills), scripted=False) as server:
        yield server


@pytest.fixture(params=[1280, 390])
def page(browser: Browser, own: Server, request: pytest.FixtureRequest) -> Iterator[Page]:
    viewport = {"width": request.param, "height": 844}
    with a_page(browser, own, viewport=viewport, bypass_csp=True) as page:
        ready(page) if request.param > 400 else None
        yield page


def open_list(page: Page) -> None:
    if page.get_by_role("navigation").count() == 0:
        page.get_by_role("button", name="Conversations").click()


EXPORTED = r"# Way to the sea\n\n\*\*You\*\* \(.+\)\n\nHello!\n\n\*\*sure\*\* \(.+\)\n\nHello!"


def test_a_conversation_is_tagged_pinned_put_away_and_exported(page: Page) -> None:
    page.goto(f"{page.url.partition('?')[0]}?id=sea-{page.evaluate('innerWidth')}")
    say(page, "Hello!")
    say(page, "the way to the sea")
    open_list(page)
    more = page.get_by_role("button", name="More for Way to the sea")
    more.press("Enter")
    menu = page.get_by_role("dialog", name="Way to the sea")
    menu.get_by_role("button", name="Tags…").press("Enter")
    menu.get_by_label("Tags").fill(f"sea, {HOSTILE[:20]}")
    check_reach(page)
    menu.get_by_role("button", name="Keep the tags").press("Enter")
    expect(page.locator(".talk .tag")).to_have_text(["sea", HOSTILE[:20]])
    more.press("Enter")
    menu.get_by_role("button", name="Pin to the top").press("Enter")
    expect(page.get_by_role("heading", name="Pinned")).to_be_visible()
    more.press("Enter")
    with page.expect_download() as download:
        menu.get_by_role("button", name="Export as Markdown").press("Enter")
    words = Path(download.value.path()).read_text(encoding="utf-8")
    assert re.match(EXPORTED, words)
    menu.get_by_role("button", name="Unpin").press("Enter")
    expect(page.get_by_role("heading", name="Pinned")).to_have_count(0)
    more.press("Enter")
    menu.get_by_role("button", name="Archive").press("Enter")
    expect(more).to_have_count(0)
    page.get_by_label("Which conversations").select_option("archived")
    more.press("Enter")
    menu.get_by_role("button", name="Delete").press("Enter")
    page.get_by_role("dialog", name="Delete this").get_by_role("button", name="Delete").click()
    expect(more).to_have_count(0)


def test_a_picture_goes_with_words_at_any_time_and_one_agent_alone_is_asked(page: Page) -> None:
    plus = page.get_by_role("button", name="Attach a file")
    plus.click()
    extras = page.get_by_role("dialog", name="With your words")
    expect(extras).to_be_visible()
    check_reach(page)
    lake = {"name": f"{HOSTILE[:9]}.png", "mimeType": "image/png", "buffer": PNG}
    extras.locator("input").set_input_files(lake)  # type: ignore[arg-type]
    page.get_by_label("Your message").fill("what is this?")
    page.keyboard.press("Enter")
    expect(log(page).locator(".own .words").last).to_have_text("what is this?")
    sent = log(page).get_by_role("img", name="The picture that you sent").last
    expect(sent).to_have_js_property("naturalWidth", 1)

    plus.click()
    extras.get_by_label("Who is asked").select_option("other")
    only = page.get_by_role("button", name="Ask everybody, not only other")
    expect(only).to_be_visible()
    width = page.evaluate("innerWidth")
    say(page, f"alone {width}")
    expect(log(page).locator(".by").last).to_have_text("other")
    only.click()
    expect(only).to_have_count(0)
    say(page, f"together {width}")
    expect(log(page).locator(".by").last).to_have_text("sure")


def test_a_file_that_is_not_taken_is_refused_when_it_is_chosen(page: Page) -> None:
    page.get_by_role("button", name="Attach a file").click()
    song = {"name": "song.mp3", "mimeType": "audio/mpeg", "buffer": b"ID3"}
    extras = page.get_by_role("dialog", name="With your words")
    extras.locator("input").set_input_files(song)  # type: ignore[arg-type]
    expect(page.get_by_role("alert")).to_contain_text("song.mp3: Pictures")
    expect(page.get_by_role("button", name="Leave song.mp3 out")).to_have_count(0)


def test_a_text_goes_with_words_and_is_saved_rather_than_shown(page: Page) -> None:
    page.get_by_role("button", name="Attach a file").click()
    table = {"name": "costs.CSV", "mimeType": "application/vnd.ms-excel", "buffer": b"milk,2\n"}
    extras = page.get_by_role("dialog", name="With your words")
    extras.locator("input").set_input_files(table)  # type: ignore[arg-type]
    page.get_by_label("Your message").fill("add these")
    page.keyboard.press("Enter")

    link = log(page).get_by_role("link", name="The table that you sent").last
    answer = page.request.get(link.evaluate("(one) => one.href"))
    assert answer.text() == "milk,2\n"
    assert answer.headers["content-disposition"] == "attachment"


def test_settings_hold_in_another_visit(page: Page) -> None:
    say(page, f"what day is it? {page.evaluate('innerWidth')}")
    page.get_by_role("button", name="Settings").press("Enter")
    settings = page.get_by_role("dialog", name="Settings")
    expect(settings).to_be_visible()
    check_reach(page)
    settings.get_by_label("Theme").select_option("dark")
    settings.get_by_label("Language").select_option("de")
    expect(log(page).locator("time").last).to_have_text(re.compile(r"^\d\d:\d\d$"))
    settings.get_by_label("Clock").select_option("12")
    with page.expect_response("**/api/settings*") as kept:
        settings.get_by_label("Enter sends").uncheck()
    assert kept.value.status == 204
    check_reach(page)
    settings.get_by_role("button", name="Done").press("Enter")
    expect(page.get_by_role("button", name="Settings")).to_be_focused()
    page.evaluate("localStorage.clear()")
    page.reload()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_label("Your message").fill("one")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your message")).to_have_value("one\n")
    page.keyboard.press("Control+Enter")
    expect(log(page).locator(".own .words").last).to_have_text("one")
    expect(log(page).locator("time").last).to_have_text(re.compile(r"^\d+:\d\d [AP]M$"))
    page.get_by_role("button", name="Settings").click()
    expect(settings.get_by_label("Language")).to_have_value("de")
    settings.get_by_label("Clock").select_option("24")
    settings.get_by_label("Enter sends").check()
    settings.get_by_label("Theme").select_option("system")


def test_a_setting_that_cannot_be_kept_goes_back_with_its_reason(page: Page) -> None:
    page.route("**/api/settings*", lambda route: route.abort())
    page.get_by_role("button", name="Settings").click()
    settings = page.get_by_role("dialog", name="Settings")
    settings.get_by_label("Time zone").select_option("Asia/Tokyo")

    expect(settings.get_by_role("alert")).to_be_visible()
    expect(settings.get_by_label("Time zone")).to_have_value("")
