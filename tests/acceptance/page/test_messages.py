"""Every kind of message, as it is shown and pressed."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.page.frames import (
    AWAY,
    HOSTILE,
    MESSAGES,
    PNG,
    log,
    message,
    said,
    show,
)
from tests.acceptance.page.scripted import NOTHING, Frame, Server, asks

pytestmark = pytest.mark.browser


def test_a_text_is_shown_and_its_addresses_are_links(page: Page, server: Server) -> None:
    link = show(page, server, "text").get_by_role("link")

    expect(link).to_have_attribute("href", f"{AWAY}/page")
    assert link.get_attribute("rel") == "noopener noreferrer nofollow"
    expect(log(page).get_by_text("Look at")).to_have_text(f"Look at {AWAY}/page.")


def test_a_picture_is_shown_with_its_description(page: Page, server: Server) -> None:
    picture = show(page, server, "picture").get_by_role("img", name="A lake")

    expect(picture).to_have_js_property("naturalWidth", 1)
    expect(log(page).get_by_role("link")).to_have_attribute("href", f"{AWAY}/a.png")


def test_a_picture_that_does_not_come_is_named(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, "picture", url=f"{AWAY}/missing.jpg", alt="A lake"), NOTHING)

    expect(log(page)).to_contain_text("A picture that cannot be shown: A lake")


def test_an_rdl_is_a_link_with_its_picture(page: Page, server: Server) -> None:
    link = show(page, server, "rdl").get_by_role("link", name="The lake")

    expect(link).to_have_attribute("href", f"{AWAY}/lake")
    expect(link).to_contain_text("It is deep.")
    expect(link.locator("img")).to_have_attribute("src", f"{AWAY}/b.png")


def test_a_result_is_a_table(page: Page, server: Server) -> None:
    result = show(page, server, "result").get_by_role("group", name="It is clear.")

    expect(result.get_by_role("term")).to_have_text("Sky")
    expect(result.get_by_role("definition")).to_have_text("clear")


def test_a_result_made_of_messages_shows_them(page: Page, server: Server) -> None:
    server.opened()
    formatted = ["In words", {"type": "picture", "url": f"{AWAY}/a.png", "alt": "A map"}]
    server.send(message(0, "result", result={"formatted": formatted}, fallback="x"), NOTHING)

    expect(log(page).get_by_text("In words")).to_be_visible()
    expect(log(page).get_by_role("img", name="A map")).to_be_visible()


def test_a_result_of_nothing_shows_its_fallback(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, "result", result={}, fallback="Nothing was found."), NOTHING)

    expect(log(page)).to_contain_text("Nothing was found.")


def test_a_button_says_what_it_holds_and_stays(page: Page, server: Server) -> None:
    button = show(page, server, "button").get_by_role("button", name="More")
    button.click()

    assert server.heard() == {"type": "parsed", "title": "More", **_json("button")}
    server.send(said(1, "More"), message(2, text="more of it"), NOTHING)
    expect(log(page)).to_contain_text("more of it")
    expect(button).to_be_visible()


def test_choices_are_gone_after_any_reply(page: Page, server: Server) -> None:
    server.opened()
    server.send(
        message(0, "choice", **MESSAGES["choice"]),
        message(1, "choice", idx=1, title="The second"),
        asks("choice"),
    )
    expect(log(page).get_by_role("button", name="The first of two")).to_be_visible()
    log(page).get_by_role("button", name="The second").click()

    code = ["bookkeeping", "choice", "1"]
    assert server.heard() == {
        "type": "parsed",
        "title": "The second",
        "json": {"code": code, "entities": {}},
    }
    expect(log(page).get_by_role("button")).to_have_count(0)
    server.send(said(2, "The second"), message(3, text="Good."), NOTHING)
    expect(log(page).get_by_text("Good.")).to_be_visible()
    expect(log(page).get_by_role("button", name=re.compile("The (first|second)"))).to_have_count(0)


def test_a_choice_goes_when_another_tab_has_answered(page: Page, server: Server) -> None:
    choice = show(page, server, "choice").get_by_role("button", name="The first")
    expect(choice).to_be_visible()
    server.send(said(1, "the first"))

    expect(choice).to_have_count(0)


def test_a_link_leads_to_a_page_of_ours_and_stays(page: Page, server: Server) -> None:
    link = show(page, server, "link").get_by_role("link", name="Set it up")
    server.send(said(1, "hm"), NOTHING)

    expect(link).to_have_attribute("href", "/devices/configure/news?name=News")


def test_an_unexpected_link_is_text(page: Page, server: Server) -> None:
    server.opened()
    addresses = [
        f"{AWAY}/user/register",
        "//elsewhere.example/apps",
        "/owner/delete",
        "/devices/configure/../../owner/delete",
        "/\\elsewhere.example/apps",
        "javascript:alert(1)",
        7,
        None,
    ]
    server.send(
        *(message(n, "link", title=f"Go {n}", url=one) for n, one in enumerate(addresses)), NOTHING
    )

    expect(log(page).get_by_text("Go ")).to_have_count(len(addresses))
    expect(log(page).get_by_role("link")).to_have_count(0)


@pytest.mark.parametrize(("kind", "name"), [("audio", "A song"), ("video", "A film")])
def test_audio_and_video_can_be_played(page: Page, server: Server, kind: str, name: str) -> None:
    player = show(page, server, kind).get_by_label(name)

    expect(player).to_have_attribute("src", MESSAGES[kind]["url"])
    expect(player).to_have_js_property("controls", True)


def test_a_sound_can_be_played_again(page: Page, server: Server) -> None:
    show(page, server, "sound").get_by_role("button", name="Play the sound alarm").click()

    expect(log(page)).to_contain_text("alarm")


def test_a_new_program_shows_its_code(page: Page, server: Server) -> None:
    show(page, server, "new-program").get_by_text("Every morning").click()

    expect(log(page)).to_contain_text("1 result, 1 error")
    expect(log(page).locator("code")).to_have_text("@news.headlines();")
    expect(log(page)).to_contain_text("It stopped.")


def test_a_message_of_a_kind_to_come_is_named(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, "hologram", of="a lake"), message(1, text="and"), NOTHING)

    expect(log(page)).to_contain_text("a kind that this page does not know (hologram)")


def test_all_who_made_a_reply_are_named(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, text="12, and it is noon.", skills=["sums", HOSTILE, "clock"]), NOTHING)

    expect(log(page).locator(".by")).to_have_text(f"sums, {HOSTILE} and clock")


def test_who_speaks_has_a_face(page: Page, server: Server) -> None:
    server.opened()
    page.route("**/icons/news", lambda route: route.fulfill(body=PNG, content_type="image/png"))
    agents = [{"name": "news", "icon": True}, {"name": "travel_bot"}, {"name": "tax-help"}]
    page.route("**/api/page*", lambda route: route.fulfill(json={"agents": agents}))
    page.reload()
    server.opened()
    names = ["news", None, "travel_bot", "tax-help", "unknown"]
    server.send(*(message(n, text="hi", icon=name) for n, name in enumerate(names)), NOTHING)

    faces = log(page).locator("img.face")
    expect(faces.first).to_have_attribute("src", "/icons/news")
    expect(faces.last).to_have_attribute("src", "/page/icon.svg")
    expect(log(page).locator("span.face")).to_have_text(["tb", "th", "un"])
    grounds = (
        log(page)
        .locator("span.face")
        .evaluate_all("(all) => all.map((one) => getComputedStyle(one).backgroundColor)")
    )
    assert len(set(grounds)) == len(grounds)


def _json(kind: str) -> Frame:
    return {"json": MESSAGES[kind]["json"]}
