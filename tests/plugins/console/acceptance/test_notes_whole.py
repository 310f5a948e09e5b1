"""One turn before an assistant that is really there: read word for word, corrected, and noted."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.console_visits import a_console, a_visit, findings
from tests.plugins.console.acceptance.watched_assistant import HOSTILE, WatchedAssistant

pytestmark = pytest.mark.browser


def test_a_turn_is_read_word_for_word_corrected_tagged_and_found_by_its_tag(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "kitchen.yaml"
    file.write_text("skills: {}")
    with (
        WatchedAssistant(file) as place,
        a_visit(browser, viewport={"width": 1280, "height": 760}) as visit,
        a_console(visit, place.url) as page,
    ):
        place.turn("where is my train", HOSTILE)
        page.goto(f"{place.url}/console")
        page.locator("[data-row]").click()
        page.get_by_text("Requests and replies, word for word").click()
        calls = page.locator(".raw").first
        calls.get_by_label("Which call").select_option(label="held · skills")
        expect(calls.get_by_text('"text": "where is my train"').first).to_be_visible()
        expect(calls).to_contain_text("<b>bold</b>")
        page.locator(".bar-row").get_by_role("button", name="alone").click()
        expect(calls.locator("option:checked")).to_have_text("alone · skills")
        assert findings(page) == []

        page.get_by_role("button", name="Correct this answer").click()
        save = page.get_by_role("button", name="Save")
        expect(save).to_be_disabled()
        page.get_by_label("nobody").check()
        page.get_by_label("alone").check()
        expect(page.get_by_label("nobody")).not_to_be_checked()
        expect(page.get_by_role("dialog")).to_contain_text("alone answered and was not chosen")
        save.click()
        corrected = page.locator(".corrected")
        expect(corrected).to_contain_text("the confidence that agents give themselves erred.")
        expect(corrected.get_by_role("link")).to_have_count(0)

        page.get_by_role("button", name="Tag or comment").click()
        page.get_by_label("Tags, with commas").fill(f"late, {HOSTILE[:30]}")
        page.get_by_label("Comment").fill("The train bot should know.")
        page.get_by_role("button", name="Keep it").click()
        expect(page.locator(".noted")).to_contain_text("The train bot should know.")
        page.locator(".noted").get_by_role("link", name="late").click()
        expect(page.locator("[data-row]")).to_have_count(1)
        with page.expect_download() as saving:
            page.get_by_role("button", name="Data set").click()
        assert '"labels"' in saving.value.path().read_text()
        page.get_by_role("button", name="Slowest").click()
        expect(page.get_by_text("the slowest first")).to_be_visible()
        assert findings(page) == []
