"""The page for whoever uses it, with whatever they have."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.acceptance.page.frames import (
    MESSAGES,
    message,
    special,
)
from tests.acceptance.page.scripted import Server, asks
from tests.acceptance.page.visits import a_page

pytestmark = pytest.mark.browser


def test_a_conversation_needs_no_mouse(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, text="Is it?"), asks("yesno"))
    expect(page.locator("[data-ask=yesno]")).to_be_visible()
    page.get_by_label("Your message").focus()
    for _ in range(4):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")

    assert server.heard() == special("yes", "Yes")


def test_everything_that_can_be_pressed_has_a_name(page: Page, server: Server) -> None:
    server.opened()
    every = [message(n, kind, **fields) for n, (kind, fields) in enumerate(MESSAGES.items())]
    server.send(*every, asks("picture"))
    expect(page.locator("[data-ask=picture]")).to_be_visible()
    nameless = page.get_by_role("button", name=re.compile("^$"))

    expect(nameless).to_have_count(0)
    expect(page.get_by_role("link", name=re.compile("^$"))).to_have_count(0)
    expect(page.get_by_role("textbox", name=re.compile("^$"))).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_by_day_and_by_night(browser: Browser, server: Server, scheme: Any) -> None:
    with a_page(
        browser, server, viewport={"width": 360, "height": 640}, color_scheme=scheme
    ) as page:
        server.opened()
        every = [message(n, kind, **fields) for n, (kind, fields) in enumerate(MESSAGES.items())]
        server.send(*every, message(20, text="x" * 300), asks("date"))
        expect(page.locator("[data-ask=date]")).to_be_visible()
        ground = {"light": "rgb(246, 245, 242)", "dark": "rgb(23, 24, 27)"}[scheme]

        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        expect(page.locator("body")).to_have_css("background-color", ground)
        expect(page.get_by_role("button", name="Send")).to_be_in_viewport()
