"""How an answer came about, thumbs, and the bell."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.page.frames import (
    HOSTILE,
    log,
    message,
    said,
)
from tests.acceptance.page.scripted import NOTHING, Server

pytestmark = pytest.mark.browser


def test_a_thumb_rates_the_reply(page: Page, server: Server) -> None:
    utt_id = server.reply("hello")
    server.opened()
    server.send(message(0, text="hello", utt_id=utt_id), NOTHING)
    with page.expect_response("**/rating/reply*") as answered:
        page.get_by_role("button", name="A bad answer").click()

    assert answered.value.status == 204
    assert server.rating_of(utt_id) == [-1]
    expect(page.get_by_role("button", name="A bad answer")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_the_panel_shows_how_a_reply_came_about(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, text="hello", utt_id=server.reply(HOSTILE)), NOTHING)
    page.get_by_role("button", name="How this answer came about").click()
    panel = page.get_by_role("complementary", name="How this answer came about")

    expect(panel.get_by_text("sure answered after")).to_contain_text("most confident")
    expect(panel.locator(".hypotheses .who")).to_have_text(
        [re.compile("sure.*chosen.*0.9"), re.compile("unsure.*0.2")]
    )
    expect(panel.locator(".timeline .who strong")).to_have_text(["sure", "unsure", "broken"])
    expect(panel.locator(".timeline .failed")).to_contain_text("<b>bold</b>")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def test_the_panel_draws_no_bar_for_whom_nobody_asked(page: Page, server: Server) -> None:
    services = [
        {"name": "clock", "stage": "skills", "outcome": "done", "started": 0.0, "ended": 0.1},
        {"name": "poet", "stage": "skills", "outcome": "skipped", "started": None, "ended": 0.1},
    ]
    turn = {"text": "noon?", "by": "assistant", "asked": ["clock"], "services": services}
    page.route("**/api/turns/*", lambda route: route.fulfill(json=turn))
    server.opened()
    server.send(message(0, text="hello"), NOTHING)
    page.get_by_role("button", name="How this answer came about").click()
    panel = page.get_by_role("complementary", name="How this answer came about")

    expect(panel.locator(".timeline .who strong")).to_have_text(["clock"])
    expect(panel.get_by_text("Not asked: poet")).to_be_visible()
    expect(panel.locator(".way")).to_contain_text("by itself. No agent's answer was used.")


def test_the_panel_draws_what_an_agent_writes_in_markdown(page: Page, server: Server) -> None:
    rose = {"hypothesis_id": "poet.0", "skill_name": "poet", "text": "a *rose*", "confidence": 0.9}
    turn = {"text": "a rose?", "by": "confidence", "asked": ["poet"], "hypotheses": [rose]}
    agents = [{"name": "poet", "icon": False, "markdown": True}]
    page.route("**/api/turns/*", lambda route: route.fulfill(json=turn))
    page.route("**/api/page*", lambda route: route.fulfill(json={"agents": agents}))
    server.opened()
    page.reload()
    server.opened()
    server.send(message(0, text="hello"), NOTHING)
    page.get_by_role("button", name="How this answer came about").click()

    expect(page.locator(".hypotheses .markdown em")).to_have_text("rose")


def test_the_panel_tells_of_a_reply_that_is_not_known(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, text="hello"), NOTHING)
    page.get_by_role("button", name="How this answer came about").click()

    expect(page.get_by_role("alert")).to_contain_text("there is no reply")


def test_what_nobody_asked_for_rings(page: Page, server: Server) -> None:
    server.opened()
    server.send(said(0, "ring me"), message(1, text="I shall."), NOTHING)
    expect(log(page)).to_contain_text("I shall.")
    page.evaluate("Document.prototype.hasFocus = () => false")
    server.send(message(2, text="The timer rings!"), NOTHING)

    expect(page).to_have_title("● assistant")
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page).to_have_title("assistant")


def test_sounds_can_be_put_off(page: Page, server: Server) -> None:
    sounds = page.get_by_role("button", name="Sounds")
    sounds.click()
    page.reload()

    expect(sounds).to_have_attribute("aria-pressed", "false")
