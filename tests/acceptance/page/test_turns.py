"""What can be done with what was said: stop it, ask it anew, and see what became of it."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.acceptance.page.frames import log, message, said, words
from tests.acceptance.page.scripted import NOTHING, Frame, Server
from tests.acceptance.page.visits import a_page

pytestmark = pytest.mark.browser

REPLY = "0192" + "a" * 28
"""The id of a reply; it says when the reply was made."""

OTHER = "0193" + "b" * 28


def say(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.keyboard.press("Enter")


def test_own_words_come_in_sight_from_wherever_one_reads(page: Page, server: Server) -> None:
    server.opened()
    server.send(*(message(n, text=f"number {n} " + "long " * 200) for n in range(12)), NOTHING)
    expect(log(page).get_by_text("number 11")).to_be_in_viewport()
    log(page).get_by_text("number 0 ").scroll_into_view_if_needed()
    expect(page.get_by_role("button", name="Newest messages")).to_be_visible()
    say(page, "hello")

    expect(log(page).get_by_text("hello", exact=True)).to_be_in_viewport()


def test_words_that_wait_for_a_turn_are_not_told_to_be_lost(
    browser: Browser, server: Server
) -> None:
    with a_page(browser, server) as page:
        server.opened()
        server.begin(said(0, "first"), NOTHING, {"type": "event", "event": {"type": "TurnRuns"}})
        say(page, "second")
        server.heard()
        page.clock.install()
        server.hang_up()
        server.opened()
        expect(log(page).get_by_text("first", exact=True)).to_be_visible()
        expect(log(page).get_by_role("status")).to_be_visible()
        page.clock.run_for(10_000)
        expect(log(page).get_by_text("did not arrive")).to_have_count(0)
        server.send(message(1, text="re: first"), NOTHING, said(2, "second"), NOTHING)
        expect(log(page).get_by_text("second", exact=True)).to_have_count(1)


def test_what_arrived_after_all_is_not_told_to_be_lost(page: Page, server: Server) -> None:
    server.opened()
    say(page, "hello")
    server.heard()
    server.hang_up()
    expect(page.get_by_role("button", name="Send it again")).to_be_visible()
    server.send(said(0, "hello"), message(1, text="Hi!"), NOTHING)

    expect(log(page).get_by_text("Hi!")).to_be_visible()
    expect(log(page).get_by_text("did not arrive")).to_have_count(0)
    expect(log(page).get_by_text("hello", exact=True)).to_have_count(1)


@pytest.mark.parametrize("way", ["press", "key"])
def test_a_turn_is_stopped_and_what_was_written_stays(page: Page, server: Server, way: str) -> None:
    server.opened()
    say(page, "a poem")
    server.heard()
    if way == "press":
        page.get_by_role("button", name="Stop").click()
    else:
        page.keyboard.press("Escape")

    assert server.heard() == {"type": "stop"}
    server.send(said(0, "a poem"), message(1, text="Roses are", stopped=True), NOTHING)
    expect(log(page).locator(".words").last).to_have_text("Roses arestopped")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    server.send(said(2, "b"), message(3, text="Stopped.", stopped=True, icon=None), NOTHING)
    expect(log(page).locator(".words").last).to_have_text("stopped")


def test_a_turn_without_words_is_told_to_be_over(page: Page, server: Server) -> None:
    server.opened()
    server.send(said(0, "stop"), NOTHING)

    expect(log(page).get_by_text("There is nothing to say to it")).to_be_visible()
    taken = {"by": "Kari", "state": "taken"}
    server.send(message(1, text="I take over.", icon="operator", handover=taken), NOTHING)
    expect(log(page).get_by_text("There is nothing to say to it")).to_have_count(0)
    expect(log(page).get_by_text("Kari", exact=True)).to_be_visible()
    server.send(said(2, "thanks"), NOTHING)
    expect(log(page).get_by_text("A person reads this")).to_be_visible()


def test_words_are_said_anew_and_the_old_ones_fold_away(page: Page, server: Server) -> None:
    server.opened()
    turn: list[Frame] = [said(0, "helo"), message(1, text="What?", utt_id=REPLY)]
    server.send(*turn, said(2, "so"), message(3, text="So what?", utt_id=OTHER), NOTHING)
    log(page).get_by_role("button", name="Edit and ask again").first.click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("hello")
    page.keyboard.press("Enter")

    assert server.heard() == {**words("hello"), "again_of": REPLY}
    server.send({**said(4, "hello"), "again_of": REPLY}, message(5, text="Hi!"), NOTHING)
    expect(log(page).locator(".words")).to_have_text(["hello", "Hi!"])
    log(page).get_by_role("button", name="An earlier version, 4 messages").click()
    expect(log(page).locator(".words")).to_have_count(6)
    page.reload()
    server.opened()
    server.send(*turn, {**said(2, "hello"), "again_of": REPLY}, NOTHING)
    log(page).get_by_role("button", name="An earlier version, 2 messages").click()
    log(page).get_by_role("button", name="Ask the same again").click()
    assert server.heard() == {**words("helo"), "again_of": REPLY}


def test_a_message_says_when_it_was_said_and_by_whom(page: Page, server: Server) -> None:
    server.opened()
    server.send(said(0, "a"), message(1, text="b", utt_id=REPLY, icon="travel_bot"), NOTHING)
    times = log(page).locator("time")

    expect(times).to_have_count(2)
    zone = page.evaluate(
        "new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' }).formatToParts(0)"
        ".find((one) => one.type === 'timeZoneName').value"
    )
    assert zone in (times.last.get_attribute("title") or "")
    assert times.last.get_attribute("datetime") == page.evaluate(
        f"new Date({int(REPLY[:12], 16)}).toISOString()"
    )
    expect(log(page).locator(".day")).to_contain_text(zone)
    expect(log(page).get_by_text("travel_bot")).to_be_visible()


def test_a_question_in_parts_shows_each_agent_once(page: Page, server: Server) -> None:
    names = ["clock", "units", "todo", "jokes", "days", "chance", "guide"]

    def answer(name: str, text: str, number: int, confidence: float) -> dict[str, Any]:
        return {"hypothesis_id": f"{name}.{number}", "skill_name": name, "text": text,
                "confidence": confidence}  # fmt: skip

    several = [answer(name, "I cannot.", n, 0.05) for name in names[1:] for n in range(3)]
    turn = {"text": "?", "active_skill": "clock", "by": "selector", "asked": names, "seconds": 1.0,
            "started": 1_780_000_000.0, "chosen": ["clock.1"], "hypotheses": [
        answer("clock", "It is 12:00.", 0, 0.8), answer("clock", "It is 12:00", 1, 0.9), *several,
    ]}  # fmt: skip
    page.route("**/api/turns/*", lambda route: route.fulfill(json=turn))
    server.opened()
    server.send(message(0, text="hello"), NOTHING)
    page.get_by_role("button", name="How this answer came about").click()
    panel = page.get_by_role("complementary")

    expect(panel.locator(".chosen p")).to_have_text("It is 12:00")
    panel.get_by_text("2 less sure").click()
    expect(panel.locator(".hypotheses li .who strong")).to_have_text(names)
    expect(panel.get_by_text("I cannot.")).to_have_count(6)


def test_sounds_have_names_for_people(page: Page, server: Server) -> None:
    server.opened()
    server.send(message(0, "sound", name="alarm-clock-elapsed"), NOTHING)

    expect(log(page).locator(".sound")).to_have_text("alarm clock")
