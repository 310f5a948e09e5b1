"""Every ask has an input that suits it."""

import io
import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.acceptance.page.frames import (
    AWAY,
    log,
    message,
    said,
    special,
    words,
)
from tests.acceptance.page.scripted import NOTHING, Server, asks
from tests.acceptance.page.visits import a_page, paste, upload

pytestmark = pytest.mark.browser


def ask_for(page: Page, server: Server, kind: str) -> Locator:
    server.opened()
    server.send(message(0, text="What is it?"), asks(kind))
    ask = page.locator(f"[data-ask={kind}]")
    expect(ask).to_be_visible()
    return ask


@pytest.mark.parametrize(
    ("kind", "label", "typed"),
    [
        ("number", "A number", "-12.5"),
        ("date", "A date", "2026-12-24"),
        ("time", "A time of day", "18:30"),
        ("phone_number", "A phone number", "+49 30 901820"),
        ("email_address", "An e-mail address", "ann@example.org"),
        ("contact", "A phone number or an e-mail address", "ann@example.org"),
        ("location", "A place", "Berlin"),
        ("picture", "The address of a picture", f"{AWAY}/a.png"),
    ],
)
def test_an_ask_has_a_field_that_suits_it(
    page: Page, server: Server, kind: str, label: str, typed: str
) -> None:
    ask = ask_for(page, server, kind)
    ask.get_by_label(label).fill(typed)
    ask.get_by_label(label).press("Enter")

    assert server.heard() == words(typed)
    server.send(said(1, typed), message(2, text="Thank you."), NOTHING)
    expect(log(page)).to_contain_text("Thank you.")
    expect(ask).to_have_count(0)


@pytest.mark.parametrize(("name", "title"), [("yes", "Yes"), ("no", "No")])
def test_yes_and_no_are_buttons(page: Page, server: Server, name: str, title: str) -> None:
    ask_for(page, server, "yesno").get_by_role("button", name=title, exact=True).click()

    assert server.heard() == special(name, title)


def test_a_password_is_masked_and_goes_beside_the_words(page: Page, server: Server) -> None:
    field = ask_for(page, server, "password").get_by_label("A password")
    expect(field).to_have_attribute("type", "password")
    expect(page.get_by_label("Your message")).to_have_count(0)
    field.fill("cancel")
    field.press("Enter")

    frame = server.heard()
    assert frame["title"] == "••••••••"
    assert frame["json"] == {
        "code": ["bookkeeping", "answer", "QUOTED_STRING_0"],
        "entities": {"QUOTED_STRING_0": "cancel"},
    }
    expect(page.get_by_text("cancel")).to_have_count(0)


def test_a_place_can_be_the_browsers_own(browser: Browser, server: Server) -> None:
    here = {"latitude": 52.52, "longitude": 13.405}
    with a_page(browser, server, geolocation=here, permissions=["geolocation"]) as page:
        ask_for(page, server, "location").get_by_role("button", name="Where I am").click()
        frame = server.heard()

    assert frame["json"]["code"] == ["bookkeeping", "answer", "LOCATION_0"]
    display = "52.52000, 13.40500"
    assert frame["json"]["entities"] == {"LOCATION_0": {**here, "display": display}}


def test_a_place_that_the_browser_keeps_to_itself_is_told(page: Page, server: Server) -> None:
    ask = ask_for(page, server, "location")
    ask.get_by_role("button", name="Where I am").click()

    expect(ask.get_by_role("alert")).to_have_text("You did not allow it.")


def test_a_picture_can_be_uploaded(page: Page, server: Server) -> None:
    ask_for(page, server, "picture")
    upload(page)

    address = server.heard()["text"]
    assert re.fullmatch(rf"{server.url}/uploads/[0-9a-f]{{32}}\.png", address)
    server.send(said(1, address), NOTHING)
    picture = log(page).get_by_role("img", name="The picture that you sent")
    expect(picture).to_have_js_property("naturalWidth", 1)


def test_a_picture_can_be_pasted(page: Page, server: Server) -> None:
    ask_for(page, server, "picture")
    paste(page)

    assert server.heard()["text"].endswith(".png")


def test_what_is_no_picture_is_not_taken(page: Page, server: Server) -> None:
    ask = ask_for(page, server, "picture")
    upload(page, b"<svg onload=alert(1)>")

    expect(ask.get_by_role("alert")).to_contain_text("PDF and texts (.txt, .csv) are taken")


def test_a_large_photograph_is_made_smaller(page: Page, server: Server) -> None:
    image = pytest.importorskip("PIL.Image", reason="large photographs (Pillow is not installed)")
    large = io.BytesIO()
    image.effect_noise((2000, 1500), 80).save(large, "JPEG", quality=95)
    assert len(large.getvalue()) > 1_000_000
    ask_for(page, server, "picture")
    upload(page, large.getvalue(), "photo.jpg", "image/jpeg")

    assert server.heard()["text"].endswith(".jpg")


@pytest.mark.parametrize("kind", ["raw_string", "command", "generic", "choice"])
def test_some_asks_are_answered_in_words(page: Page, server: Server, kind: str) -> None:
    ask_for(page, server, kind)
    field = page.get_by_label("Your message")
    field.fill("cancel\nthe rest")
    field.press("Enter")

    assert server.heard() == words("cancel\nthe rest")


@pytest.mark.parametrize("kind", ["raw_string", "date", "password"])
def test_every_ask_can_be_dropped(page: Page, server: Server, kind: str) -> None:
    ask_for(page, server, kind).get_by_role("button", name="Never mind").click()

    assert server.heard() == special("nevermind", "Never mind")


def test_an_ask_leaves_room_for_another_subject(page: Page, server: Server) -> None:
    ask_for(page, server, "date")
    page.get_by_label("Your message").fill("what is 2 + 2?")
    page.get_by_role("button", name="Send").click()

    assert server.heard() == words("what is 2 + 2?")


@pytest.mark.parametrize(
    ("kind", "typed"), [("email_address", "ann"), ("picture", "a lake"), ("date", "")]
)
def test_a_field_says_what_it_cannot_take(
    page: Page, server: Server, kind: str, typed: str
) -> None:
    ask = ask_for(page, server, kind)
    ask.locator("input").first.fill(typed)
    ask.get_by_role("button", name="Answer").click()

    expect(ask.get_by_role("alert")).not_to_be_empty()
