"""Conversations before an assistant that is really there: found, explained, taken over, deleted."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.console_visits import a_console, a_visit, findings
from tests.plugins.console.acceptance.watched_assistant import HOSTILE, WatchedAssistant

pytestmark = pytest.mark.browser


def test_a_failure_is_found_its_person_taken_over_given_back_and_deleted(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "kitchen.yaml"
    file.write_text("skills: {}")
    with (
        WatchedAssistant(file) as place,
        a_visit(browser, viewport={"width": 1440, "height": 900}) as visit,
        a_console(visit, place.url) as page,
    ):
        page.clock.install()
        page.goto(f"{place.url}/console")
        expect(page.get_by_text("Nobody has said anything yet")).to_be_visible()
        place.turn("where is my train", HOSTILE)
        page.clock.run_for(6_000)
        expect(page.locator("[data-row]")).to_contain_text("where is my train")
        page.get_by_role("link", name="Failures").click()
        expect(page.locator(".row .sign")).to_have_text("1 failure")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.locator(".verdict")).to_contain_text("held answered after")
        expect(page.locator(".bar-row.failed .name")).to_contain_text("ill")
        expect(page.locator(".wrongs")).to_contain_text("<b>bold</b>")
        assert findings(page) == []

        talk = page.locator(".talk")
        place.start_turn("are you there")
        page.keyboard.press("t")
        field = page.get_by_label("Write to ann")
        expect(field).to_be_visible()
        place.let_answer("I am.")
        page.clock.run_for(6_000)
        expect(talk.get_by_text("I am.")).to_have_count(1)
        place.do(place.assistant.turn("hello?", user="ann"))
        page.clock.run_for(6_000)
        expect(talk.get_by_text("hello?")).to_have_count(1)
        assert place.held.asked.empty()
        field.fill("A person is here.")
        field.press("Enter")
        expect(talk.locator("ol").get_by_text("A person is here.")).to_have_count(1)
        page.get_by_role("button", name="Give back").last.click()
        page.get_by_label("A note for the agents").fill("the train is late")
        page.get_by_role("dialog").get_by_role("button", name="Give back").click()
        expect(field).to_have_count(0)
        place.turn("thanks", "You are welcome.")
        page.clock.run_for(6_000)
        expect(talk.get_by_text("You are welcome.")).to_have_count(1)

        page.get_by_role("button", name="Delete this person").click()
        page.get_by_role("button", name="Delete for good").click()
        expect(page.get_by_text("None fits")).to_be_visible()
        page.get_by_role("link", name="Drop all filters").click()
        expect(page.get_by_text("Nobody has said anything yet")).to_be_visible()
