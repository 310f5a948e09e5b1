"""The pages Agents, Live and Plan in a real browser, before an assistant that is really there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.console_visits import a_console, a_visit, findings, press_chord
from tests.plugins.console.acceptance.watched_assistant import HOSTILE, WatchedAssistant

DRAWN = HOSTILE.replace("\u0000", "\ufffd")
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedAssistant]:
    file = Path(tmp_path_factory.mktemp("plan")) / "kitchen.yaml"
    file.write_text("skills: {}")
    with WatchedAssistant(file) as place:
        yield place


@pytest.fixture(scope="module")
def desk(browser: Browser) -> Iterator[BrowserContext]:
    with a_visit(browser, viewport={"width": 1440, "height": 900}) as visit:
        yield visit


@pytest.fixture
def page(desk: BrowserContext, place: WatchedAssistant) -> Iterator[Page]:
    with a_console(desk, place.url) as page:
        yield page


def names(page: Page) -> list[str]:
    return page.locator(".agents-table tbody .agent-name").evaluate_all(
        "all => all.map((one) => one.dataset.row)"
    )


def test_the_ill_come_first_and_one_is_asked_tried_and_switched_by_keys(
    page: Page, place: WatchedAssistant
) -> None:
    result = place.turn(HOSTILE)
    page.goto(f"{place.url}/console/agents")
    row = page.get_by_role("row").filter(has_text="ill")
    expect(row).to_contain_text("left alone after 1 failure")
    assert names(page)[0] == "skills.ill"
    page.get_by_role("columnheader", name="Wins").get_by_role("button").press("Enter")
    expect(page.get_by_role("columnheader", name="Wins")).to_have_attribute(
        "aria-sort", "descending"
    )
    assert names(page)[0] == "skills.held"

    page.locator("[data-row='skills.ill']").press("Enter")
    side = page.get_by_role("complementary")
    expect(side.get_by_role("region", name="Trouble")).to_contain_text("<b>bold</b>")
    turn = side.get_by_role("link", name="the turn")
    utt_id = result.reply.utt_id
    expect(turn.first).to_have_attribute(
        "href", f"/console/conversations/{result.dialog_id}/{utt_id}"
    )
    expect(side.locator(".about")).to_contain_text("<b>bold</b>")
    side.get_by_role("button", name="Try it now").press("Enter")
    expect(side).to_contain_text("tries again")
    side.get_by_label("Say to this agent alone").fill("hello?")
    side.get_by_label("Say to this agent alone").press("Enter")
    expect(side.get_by_role("log")).to_contain_text("raised")
    assert findings(page) == []

    side.get_by_role("heading", name="Card").click()
    page.keyboard.press("j")
    expect(side).to_have_accessible_name("alone")
    side.get_by_label("Say to this agent alone").fill(HOSTILE)
    side.get_by_label("Say to this agent alone").press("Enter")
    expect(side.get_by_role("log")).to_contain_text("sure 0.2")
    page.keyboard.press("Escape")


def test_an_agent_is_switched_off_after_a_question_that_names_what_needs_it(
    page: Page, desk: BrowserContext, place: WatchedAssistant
) -> None:
    other = desk.new_page()
    other.goto(f"{place.url}/console/agents?stage=all")
    page.goto(f"{place.url}/console/agents/note?of=annotators")
    side = page.get_by_role("complementary")
    side.get_by_role("button", name="Switch off…").press("Enter")
    asked = page.get_by_role("dialog", name="Switch off note?")
    expect(asked).to_contain_text("needy needs it and is skipped as well")
    page.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    side.get_by_role("button", name="Switch off…").press("Enter")
    asked.get_by_role("button", name="Switch off").press("Enter")
    expect(side.locator(".state-word")).to_have_text("off")
    expect(side).to_contain_text("switched off by local")
    expect(other.locator("[data-row='annotators.note']")).to_contain_text("switched off by local")
    other.close()
    record = place.turn("hi").record
    skipped = {one.name: one.code for one in record.services if one.outcome == "skipped"}
    assert skipped == {"note": "switched_off", "needy": "switched_off"}
    side.get_by_role("button", name="Switch on").press("Enter")
    expect(side.locator(".state-word")).to_have_text("well")


def test_turns_are_seen_as_they_run_held_still_and_again_after_the_server_was_away(
    page: Page, place: WatchedAssistant
) -> None:
    page.goto(f"{place.url}/console/live")
    expect(page.get_by_role("button", name="Hold")).to_be_visible()
    running = page.locator(".flow .flowing")
    ended = page.locator(".flow li:not(.flowing):not(.event)")
    expect(page.locator(".live .nothing, .live .flow")).to_be_visible()
    place.start_turn(HOSTILE)
    expect(running).to_contain_text("asks held")
    assert findings(page) == []
    place.let_answer("one")
    expect(running).to_have_count(0)
    first = ended.first
    expect(first).to_contain_text("one")
    expect(first.get_by_role("link")).to_have_attribute("href", re.compile("/conversations/.+/.+"))
    page.keyboard.press("h")
    place.turn("second", "two")
    expect(page.get_by_role("button", name=re.compile("Go on \\(1 new\\)"))).to_be_visible()
    expect(ended.first).to_contain_text("one")
    page.keyboard.press("h")
    expect(ended.first).to_contain_text("two")
    place.end()
    expect(page.get_by_text("Not connected since")).to_be_visible()
    place.begin()
    expect(page.get_by_text("Not connected since")).to_be_hidden()
    place.start_turn("third")
    expect(running).to_contain_text("third")
    place.let_answer("three")
    expect(ended.first).to_contain_text("three")


def test_all_turns_in_which_an_agent_failed_are_listed_with_the_errors(
    page: Page, place: WatchedAssistant
) -> None:
    for text in ("first", "second"):
        place.turn(text)
    page.goto(f"{place.url}/console/agents/ill")
    trouble = page.get_by_role("region", name="Trouble")
    trouble.get_by_role("link", name=re.compile("^all ")).first.press("Enter")
    expect(page).to_have_url(re.compile("/live[?]failed=ill&code="))
    rows = page.locator(".flow li")
    expect(rows.first).to_contain_text("second")
    expect(rows.first.locator("small.wrong")).to_contain_text("left alone after 1 failure")
    expect(rows.nth(1)).to_contain_text("first")
    page.get_by_role("link", name=re.compile("^ill failed")).press("Enter")
    expect(page).to_have_url(re.compile("/live$"))
    assert findings(page) == []


def test_figures_over_time_lead_to_the_turns_and_agents_behind_them(
    page: Page, place: WatchedAssistant
) -> None:
    place.turn("hi")
    page.goto(f"{place.url}/console/plan")
    expect(page.get_by_role("heading", name="Plan")).to_be_visible()
    press_chord(page, "gf")
    turns = page.get_by_role("table", name="Turns")
    expect(turns.get_by_role("row", name=re.compile("^With failures"))).to_contain_text("100 %")
    expect(turns.get_by_role("link", name="Without an answer")).to_have_attribute(
        "href", "/console/conversations?kind=none&time=7d"
    )
    page.get_by_label("Figure of agents").select_option("failed")
    expect(page).to_have_url(re.compile("by=failed"))
    agents = page.get_by_role("table", name="Agents")
    expect(agents.get_by_role("row", name=re.compile("^ill"))).to_contain_text("100 %")
    assert findings(page) == []
    agents.get_by_role("link", name="ill").press("Enter")
    expect(page.get_by_role("complementary")).to_have_accessible_name("ill")


def test_the_plan_shows_states_times_and_hints_and_leads_to_agents(
    page: Page, place: WatchedAssistant
) -> None:
    place.turn("hi")
    page.goto(f"{place.url}/console/plan")
    node = page.get_by_role("link", name=re.compile("^ill, skills, left alone"))
    expect(node).to_be_visible()
    expect(page.locator(".hints")).to_contain_text("<b>bold</b>")
    expect(page.locator(".hints")).to_contain_text("kitchen.yaml:31")
    chain = re.compile(r"note → (?:held|needy)")  # measured: either may take longer
    expect(page.locator(".path").first).to_contain_text(chain)
    assert page.locator(".graph").evaluate("one => one.scrollWidth <= one.clientWidth")
    page.get_by_label("Which path is lit").select_option("limits")
    expect(page).to_have_url(re.compile("path=limits"))
    expect(page.locator(".path").first).to_contain_text("longer than the deadline")
    assert findings(page) == []
    node.press("Enter")
    expect(page.get_by_role("complementary")).to_have_accessible_name("ill")


def test_a_phone_at_night_shows_one_pane_at_a_time(
    browser: Browser, place: WatchedAssistant
) -> None:
    place.turn(HOSTILE)
    with (
        a_visit(browser, viewport=PHONE, color_scheme="dark", has_touch=True) as visit,
        a_console(visit, place.url) as page,
    ):
        page.goto(f"{place.url}/console/agents")
        table = page.locator(".agents-table")
        table.get_by_role("link", name=re.compile("^ill")).tap()
        expect(page.get_by_role("complementary")).to_have_accessible_name("ill")
        expect(table).to_be_hidden()
        found = findings(page)
        page.get_by_role("button", name="Close").tap()
        expect(table).to_be_visible()
        found += findings(page)
        for one in ("live", "live?failed=ill", "figures", "plan"):
            page.goto(f"{place.url}/console/{one}")
            expect(page.locator("h1")).to_be_visible()
            expect(
                page.locator(".live .nothing, .flow li, .bars, .graph .node").first
            ).to_be_visible()
            found += findings(page)
        assert found == []
