"""The line to the assistant: what is said, lost, found again, and who is let in."""

import pytest
from playwright.sync_api import Browser, Page, expect

from prolocutor.testing.channel_kit import STRICT
from tests.acceptance.page.agents import PIPELINE
from tests.acceptance.page.frames import log, message, said, words
from tests.acceptance.page.scripted import ID, NOTHING, PATIENCE, Server
from tests.acceptance.page.visits import a_page

pytestmark = pytest.mark.browser


def test_words_are_shown_at_once_and_once(page: Page, server: Server) -> None:
    server.opened()
    page.get_by_label("Your message").fill("hello")
    page.keyboard.press("Enter")
    own = log(page).get_by_text("hello", exact=True)
    expect(own).to_be_visible()
    assert server.heard() == words("hello")
    expect(log(page).get_by_role("status")).to_be_visible()
    server.send(said(0, "hello"), message(1, text="Hi!"), NOTHING)

    expect(log(page)).to_contain_text("Hi!")
    expect(own).to_have_count(1)
    expect(log(page).get_by_role("status")).to_have_count(0)


def test_words_said_before_the_line_is_ready_are_looked_after_once_it_is(
    page: Page, server: Server
) -> None:
    server.opened()
    server.script.opening = [ID]
    page.reload()
    server.opened()
    page.get_by_label("Your message").fill("hello")
    page.keyboard.press("Enter")
    expect(log(page).get_by_text("hello", exact=True)).to_be_visible()
    server.send(NOTHING)

    assert server.heard() == words("hello")
    expect(log(page).get_by_role("status")).to_be_visible()


def test_a_broken_line_is_made_again_without_loss(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, text="one"), NOTHING)
    expect(log(page)).to_contain_text("one")
    server.begin(message(1, text="two"), NOTHING)
    server.hang_up()

    assert server.opened()["after"] == "0"
    expect(log(page).locator(".words")).to_have_text(["one", "two"])


def test_what_comes_twice_is_shown_once(page: Page, server: Server) -> None:
    server.opened()
    server.send(*[message(0, text="one"), message(1, text="two")] * 2, NOTHING)

    expect(log(page).locator(".words")).to_have_text(["one", "two"])


def test_what_was_lost_with_the_line_can_be_sent_again(page: Page, server: Server) -> None:
    server.opened()
    page.get_by_label("Your message").fill("hello")
    page.keyboard.press("Enter")
    first = server.script.heard.get(timeout=PATIENCE)
    server.hang_up()
    page.get_by_role("button", name="Send it again").click()

    assert server.script.heard.get(timeout=PATIENCE) == first
    assert first["key"]


def test_what_is_said_without_a_line_is_sent_later(page: Page, server: Server) -> None:
    server.opened()
    server.hang_up()
    expect(page.get_by_text("The line is broken")).to_be_visible()
    page.get_by_label("Your message").fill("hello")
    page.keyboard.press("Enter")

    assert server.heard() == words("hello")


def test_a_new_network_is_a_new_line(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, text="one"), NOTHING)
    expect(log(page)).to_contain_text("one")
    page.evaluate("dispatchEvent(new Event('online'))")

    assert server.opened()["after"] == "0"


def test_an_assistant_that_forgot_everything_is_begun_anew(page: Page, server: Server) -> None:
    server.opened()
    for number in (7, 7, 0):
        server.send(message(number, text=f"{number} before"), NOTHING)
    server.send(message(1, text="1 after"), NOTHING)
    server.send(message(0, text="0 after"), NOTHING)

    expect(log(page).locator(".words")).to_have_text(["0 after"])


def test_earlier_messages_can_be_asked_for(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(60, text="newest"), NOTHING)
    expect(log(page)).to_contain_text("newest")
    server.begin(*(message(n, text=f"number {n}") for n in range(9, 60)), NOTHING)
    page.get_by_role("button", name="Earlier messages").click()

    assert server.opened()["after"] == "9"
    expect(log(page).locator(".words")).to_have_count(52)
    expect(log(page).locator(".words").last).to_have_text("newest")


def test_more_than_the_last_ten_messages_are_found_again(page: Page, server: Server) -> None:
    server.opened()
    server.begin(*(message(n, text=f"number {n}") for n in range(51, 61)), NOTHING)
    page.reload()

    assert [server.opened()["after"] for _ in range(2)] == [None, "0"]


def test_an_error_is_told_and_the_words_can_be_sent_again(page: Page, server: Server) -> None:
    server.opened()
    page.get_by_label("Your message").fill("hello")
    page.keyboard.press("Enter")
    server.heard()
    server.send({"type": "error", "error": "The disk is full.", "code": "store_full"}, NOTHING)

    expect(page.get_by_role("alert")).to_have_text("The disk is full.")
    expect(page.get_by_role("button", name="Send it again")).to_be_visible()


def test_a_page_without_a_token_asks_for_it(browser: Browser) -> None:
    with Server(PIPELINE, STRICT) as strict, a_page(browser, strict) as page:
        page.get_by_label("Token").fill("the-token-of-ann")
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_text("Connected")).to_be_visible()
        assert strict.opened()["access_token"] == "the-token-of-ann"
        page.reload()
        expect(page.get_by_text("Connected")).to_be_visible()


def test_a_token_in_the_address_does_not_stay_there(browser: Browser) -> None:
    with Server(PIPELINE, STRICT) as strict, a_page(browser, strict) as page:
        page.goto(f"{strict.url}/?access_token=the-token-of-ann&id=work")
        assert strict.opened() == {
            "id": "work",
            "after": None,
            "access_token": "the-token-of-ann",
        }
        assert page.url == f"{strict.url}/?id=work"
