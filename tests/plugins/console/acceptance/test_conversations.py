"""The console's pages in a browser, before a server whose answers are invented."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from prolocutor.errors import Stopping
from prolocutor.plugins.console import channel
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.static_files import SHARED
from tests.acceptance.page.frames import HOSTILE
from tests.console_visits import a_console, a_visit, findings, press_chord
from tests.plugins.console.acceptance.invented import (
    NOW,
    SERVICES,
    dialog_id,
    not_kept,
    summary,
    turn,
    turns,
    utt_id,
)
from tests.plugins.console.acceptance.pretended import Invented, PretendedServer

pytestmark = pytest.mark.browser

STATIC = Path(channel.__file__).parent / "static"
TALK = re.compile(r"/api/console/conversations/\w+\?")
NASTY = f"{HOSTILE}\u202eright to left\u0000nothing https://elsewhere.example/a.png"


def opened(page: Page, server: PretendedServer, path: str = "", rows: bool = True) -> None:
    page.goto(f"{server.url}/console{path}")
    if rows:
        expect(page.locator("[data-row]").first).to_be_visible()


def rows(page: Page) -> Locator:
    return page.locator("[data-row]")


def test_filters_stand_in_the_address_and_hold_while_walking(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    data.begin(*(summary(n) for n in range(300)))
    opened(page, server)
    page.keyboard.press("/")
    page.keyboard.type("train")
    expect(page).to_have_url(re.compile("words=train"))
    page.get_by_role("link", name="Failures").click()
    expect(rows(page).nth(3)).to_contain_text("question 20 ")
    page.locator("h1").click()
    for _ in range(30):
        page.keyboard.press("j")
    expect(page.locator("[data-row]:focus")).to_contain_text("question 176 ")
    address, scrolled = page.url, page.locator(".rows").evaluate("one => one.scrollTop")
    assert scrolled > 0

    page.keyboard.press("Enter")
    expect(page.locator(".walk")).to_contain_text("30 of 50 failures")
    for place in (31, 32, 33):
        page.keyboard.press("j")
        expect(page.locator(".walk")).to_contain_text(f"{place} of 50 failures")
    expect(page.locator(".talk")).to_contain_text("what was said 0 in 194")
    page.go_back()

    expect(page.locator("[data-row]:focus")).to_contain_text("question 176 ")
    assert page.url == address
    assert page.locator(".rows").evaluate("one => one.scrollTop") == scrolled


def test_new_rows_do_not_move_what_is_read_and_pages_show_each_once(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    data.begin(*(summary(n) for n in range(300, 420)))
    page.clock.install()
    opened(page, server)
    read = rows(page).nth(7)
    read.focus()
    place = read.bounding_box()
    data.rows[:0] = [summary(n, at=NOW + 99_999) for n in range(200)]
    page.clock.run_for(6_000)
    fresh = page.get_by_role("button", name="50 or more new")
    expect(fresh).to_be_visible()

    assert read.bounding_box() == place
    expect(page.locator("[data-row]:focus")).to_contain_text("question 307 ")
    fresh.click()
    expect(rows(page).first).to_contain_text("question 0 ")
    for shown in range(100, 351, 50):
        page.locator(".rows").evaluate("one => one.scrollTo(0, one.scrollHeight)")
        expect(rows(page)).to_have_count(min(shown, 320))
    ids = page.evaluate(
        "[...document.querySelectorAll('[data-row]')].map((one) => one.dataset.row)"
    )
    assert ids == [row["dialog_id"] for row in data.rows]


def test_uploads_have_a_name_and_stopped_turns_a_mark_in_the_list(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    upload = f"http://127.0.0.1:8931/uploads/{32 * 'a'}.png"
    data.begin(summary(0, said=f"what is this? {upload}", stopped=True))
    opened(page, server)

    expect(rows(page).first).to_contain_text("what is this? [a picture]")
    expect(page.locator(".row .signs")).to_contain_text("stopped")


def test_the_timeline_is_the_record(page: Page, server: PretendedServer, data: Invented) -> None:
    data.begin(summary(0))
    data.turns[utt_id(0, 1)] = not_kept(utt_id(0, 1))
    opened(page, server, f"/conversations/{dialog_id(0)}/{utt_id(0, 3)}", rows=False)
    expect(page.locator(".verdict")).to_have_text(
        "llm answered after 3.41 s; 1.24 s of that were lost on travel_bot, which failed. "
        "The ranker chose it: right with 0.71, before refunds with 0.34."
    )
    lane = page.locator(".lane").first.bounding_box()
    assert lane
    scale = lane["width"] / (3.412 * 1.02)
    shown = page.locator(".bar-row")
    for position, record in enumerate(SERVICES):
        bar = shown.nth(position).locator(".lane .bar")
        if record["started"] is None:
            expect(bar).to_have_count(0)
            continue
        box = bar.bounding_box()
        assert box
        long = max(3, (record["ended"] - record["started"]) * scale)
        assert abs(box["x"] - lane["x"] - record["started"] * scale) <= 1
        assert abs(box["width"] - long) <= 1
    expect(page.locator(".gantt .bar.critical")).to_have_count(4)
    expect(page.locator(".wrongs")).to_contain_text(SERVICES[3]["error"])
    expect(page.locator(".diff tbody tr")).to_have_text(
        [re.compile('"Oslo".*"Bergen"'), re.compile("bot claim.*offered"), re.compile("cards")]
    )
    page.keyboard.press("r")
    again = page.get_by_role("region", name="Run again")
    expect(again).to_contain_text("refunds")
    expect(again).to_contain_text("Not called: timer")
    page.get_by_label("Run it again on a changed assistant").select_option("changed")
    expect(again).to_contain_text("Run again on changed")
    assert data.asked == ["{}", '{"assistant":"changed"}']

    page.get_by_role("button", name="Correct this answer").click()
    page.get_by_label("refunds").check()
    page.get_by_label("What would have been right").fill("Half of it.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".corrected")).to_contain_text("Right: refunds for 3 turns")
    assert data.labels == [{"work": utt_id(0, 3), "agents": ["refunds"], "answer": "Half of it."}]
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("button", name="Correct this answer")).to_be_visible()

    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(page.get_by_role("note")).to_contain_text("is not kept any more")
    assert page.url.endswith(utt_id(0, 1))


def test_what_an_operator_wrote_has_no_timeline_and_nothing_to_correct(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    data.begin(summary(0))
    id_ = utt_id(0, 1)
    data.turns[id_] = turn(id_, by="operator", response="I have charged it back.", services=[])
    opened(page, server, f"/conversations/{dialog_id(0)}/{id_}", rows=False)

    expect(page.locator(".how")).to_contain_text("No agent was asked.")
    expect(page.locator(".how .said-in-full")).to_contain_text("I have charged it back.")
    expect(page.locator(".gantt, .answers")).to_have_count(0)
    expect(page.get_by_role("button", name="Correct this answer")).to_have_count(0)


def test_texts_of_others_are_text(page: Page, server: PretendedServer, data: Invented) -> None:
    spoilt = dict.fromkeys(("user", "channel", "said", "reply"), NASTY)
    data.begin(summary(0, **spoilt, spoke=[NASTY], dialog_id=dialog_id(0), flags=[NASTY, "waits"]))
    long = NASTY + "x" * 100_000
    data.talks[dialog_id(0)] = [{**one, "said": long, "reply": NASTY} for one in turns(0)]
    data.turns[utt_id(0, 3)] = nasty(turn(utt_id(0, 3), text=long))
    data.handovers[dialog_id(0)] = {"state": "waits", "by": NASTY, "since": NOW, "reason": NASTY}
    opened(page, server)
    expect(rows(page)).to_contain_text("<b>bold</b>")
    page.locator(".row .who-said").hover()
    rows(page).click()
    expect(page.locator(".handover")).to_contain_text("<b>bold</b>")
    for part in (".bar-row >> nth=0", ".wrongs", ".answers", ".diff", ".notes", ".reasons"):
        expect(page.locator(part)).to_contain_text("<b>bold</b>")
    page.get_by_role("button", name=re.compile("all 100,.* characters")).first.click()
    page.get_by_text("The record as JSON").click()
    expect(page.locator(".raw pre")).to_contain_text("<b>bold</b>")
    page.keyboard.press("r")
    expect(page.locator(".versus")).to_be_visible()
    assert findings(page) == []


def test_the_reply_of_an_agent_that_writes_markdown_is_drawn(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    said = "**Half** of it\n\n- <b>bold</b> <img src=x onerror=\"harmed.push('img')\">"
    data.begin(summary(0, spoke=["llm"], reply=said))
    data.turns[utt_id(0, 3)] = turn(utt_id(0, 3), response=said)
    data.talks[dialog_id(0)] = [{**one, "reply": said} for one in turns(0)]
    words = "Half of it <b>bold</b> <img src=x onerror=\"harmed.push('img')\">"
    opened(page, server)
    expect(rows(page).locator("small")).to_have_text(words)
    opened(page, server, f"/conversations/{dialog_id(0)}/{utt_id(0, 3)}", rows=False)
    expect(page.locator(".turn.here .their-words")).to_contain_text(words)

    reply = page.locator(".said-in-full .markdown")
    expect(reply.locator("strong")).to_have_text("Half")
    expect(reply.locator("li")).to_contain_text("<b>bold</b>")
    assert findings(page) == []


def nasty(value: Any, key: str = "") -> Any:
    """Return an answer with every text replaced, but those by which its parts know each other."""
    if isinstance(value, dict):
        return {name: nasty(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [nasty(one, key) for one in value]
    kept = ("by", "outcome", "hypothesis_id", "chosen", "utt_id", "text")
    return NASTY if isinstance(value, str) and key not in kept else value


def test_two_operators_and_a_server_that_goes_away(browser: Browser) -> None:
    data = Invented()
    data.begin(summary(0))
    data.handovers[dialog_id(0)] = {"state": "waits", "by": "", "since": NOW, "reason": "please"}
    keys = {"key-of-kim": "kim", "key-of-lou": "lou"}
    auth = AccessPolicy(keys=keys, tokens={"token-of-ann": "ann"})
    with (
        PretendedServer(data, auth) as server,
        a_visit(browser) as first,
        a_visit(browser) as second,
        a_console(first, server.url) as kim,
        a_console(second, server.url) as lou,
    ):
        kim.clock.install()
        path = f"/conversations/{dialog_id(0)}"
        opened(kim, server, path, rows=False)
        for key, answer in (("nothing", "not known"), ("token-of-ann", "only operators")):
            kim.get_by_label("Key", exact=True).fill(key)
            kim.keyboard.press("Enter")
            expect(kim.get_by_role("alert")).to_contain_text(answer)
        for page, key in ((kim, "key-of-kim"), (lou, "key-of-lou")):
            opened(page, server, path, rows=False)
            page.get_by_label("Key", exact=True).fill(key)
            page.keyboard.press("Enter")
            expect(page.get_by_role("status").filter(has_text="Connected")).to_contain_text(key[7:])
            expect(page.locator(".handover")).to_contain_text("wants a person")
        lou.route(TALK, lambda route: route.abort())
        kim.keyboard.press("t")
        expect(kim.get_by_text("You answer.")).to_be_visible()
        lou.keyboard.press("t")
        expect(lou.locator(".notices")).to_contain_text("kim has taken over")
        lou.unroute(TALK)
        expect(lou.locator(".handover")).to_contain_text("kim answers")

        kim.get_by_role("button", name="Ask it").click()
        kim.get_by_role("button", name="Use").click()
        field = kim.get_by_label("Write to page:ann")
        expect(field).to_have_value("What did the conductor say?")
        server.__exit__()
        kim.clock.run_for(10_000)
        expect(kim.get_by_text("Not up to date since").first).to_be_visible()
        field.press("Enter")
        expect(kim.locator(".handover")).to_contain_text("It was not said")
        server.__enter__()
        kim.clock.run_for(20_000)
        expect(kim.get_by_text("Not up to date since")).to_have_count(0)
        expect(field).to_have_value("What did the conductor say?")
        field.press("Enter")
        expect(field).to_have_value("")
        assert [text for _, text in data.said] == ["What did the conductor say?"]
        kim.get_by_role("button", name="Give back").last.click()
        kim.get_by_label("A note for the agents").fill("paid back")
        kim.get_by_role("dialog").get_by_role("button", name="Give back").click()
        expect(kim.locator(".handover.mine")).to_have_count(0)
        assert data.notes == ["paid back"]


STATES = {
    "many": lambda data: data.begin(*(summary(n) for n in range(80))),
    "none": lambda data: data.begin(),
    "not come": lambda data: setattr(data, "broken", Stopping("the assistant is starting")),
}
VISITS = [(1440, 900, "light"), (390, 844, "dark")]


@pytest.mark.parametrize(("width", "height", "scheme"), VISITS)
def test_every_page_and_state_is_within_reach(
    browser: Browser, server: PretendedServer, data: Invented, width: int, height: int, scheme: Any
) -> None:
    size: Any = {"width": width, "height": height}
    options: Any = {"viewport": size, "color_scheme": scheme, "reduced_motion": "reduce"}
    heads = {"none": "Nobody has said", "not come": "The list did not come"}
    with a_visit(browser, **options) as visit, a_console(visit, server.url) as page:
        for state, begin in STATES.items():
            data.broken = None
            begin(data)
            opened(page, server, "?words=" if state == "none" else "", rows=False)
            shown = page.get_by_text(heads[state]) if state in heads else rows(page).first
            expect(shown).to_be_visible()
            assert findings(page) == []
        data.broken = None
        data.begin(summary(0, flags=["waits"]))
        data.handovers[dialog_id(0)] = {"state": "waits", "by": "", "since": NOW, "reason": "now"}
        opened(page, server, f"/conversations/{dialog_id(0)}", rows=False)
        expect(page.locator(".handover .sign")).to_be_visible()
        assert findings(page) == []
        page.locator(".talk a").last.click()
        expect(page.locator(".gantt")).to_be_visible()
        assert findings(page) == []
        if width < 400:
            page.get_by_role("button", name="More").click()
            expect(page.get_by_role("link", name="Plan")).to_be_visible()
            assert findings(page) == []
        moving = "document.getAnimations().length"
        assert page.evaluate(moving) == 0


def test_the_first_list_needs_few_bytes_before_a_chart(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    data.begin(summary(1))
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url.partition("/console/files/")[2]))
    opened(page, server)
    files = [
        place / name
        for name in asked - {"", "vendor/uplot.mjs"}
        for place in (STATIC, SHARED)
        if (place / name).is_file()
    ]
    assert "console.js" in asked
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) < 50_000


def test_keys_work_from_the_moment_in_which_the_page_is_seen(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    data.begin(*(summary(n) for n in range(5)))
    page.add_init_script(
        """new MutationObserver((_, watch) => {
          if (!document.querySelector(".shell")) return;
          watch.disconnect();
          for (const key of "gc")
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        }).observe(document, { childList: true, subtree: true })"""
    )
    opened(page, server, "/nowhere", rows=False)
    expect(rows(page)).to_have_count(5)


def test_the_keyboard_is_enough(page: Page, server: PretendedServer, data: Invented) -> None:
    data.begin(*(summary(n) for n in range(5)))
    opened(page, server, "/nowhere", rows=False)
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    press_chord(page, "gc")
    expect(rows(page)).to_have_count(5)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Tab")
    expect(page.get_by_role("dialog").locator(":focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Take over")).to_be_visible()
    page.keyboard.press("t")
    field = page.get_by_label("Write to almond:local")
    expect(field).to_be_focused()
    page.keyboard.type("t?/gc[")
    expect(field).to_have_value("t?/gc[")
    page.keyboard.press("Enter")
    expect(field).to_have_value("")
    page.get_by_role("button", name="Delete this person").press("Enter")
    page.get_by_role("button", name="Delete for good").press("Enter")
    expect(page.locator(".notices")).to_contain_text("almond:local was deleted.")
    assert data.deleted == ["almond:local"]
    expect(page.get_by_text("almond:local", exact=True)).to_have_count(0)


FIRST_BAR = """(over) => {
  const canvas = over.closest(".u-wrap").querySelector("canvas");
  const scale = canvas.width / canvas.clientWidth;
  const [left, height] = [over.offsetLeft * scale, over.clientHeight * scale];
  const context = canvas.getContext("2d");
  const drawn = (x) => context.getImageData(left + x, 0, 1, height).data.some(Boolean);
  return Array.from({ length: 20 }, (_, x) => drawn(x)).indexOf(true);
}"""
"""Gives the pixels from the left edge of the drawing to its first bar."""


def test_a_time_is_chosen_by_dragging(page: Page, server: PretendedServer) -> None:
    opened(page, server, rows=False)
    chart = page.get_by_role("img", name="Turns an hour").locator(".u-over")
    box = chart.bounding_box()
    assert box
    assert chart.evaluate(FIRST_BAR) > 0  # the first bar is whole
    page.mouse.move(box["x"] + 100, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 20, steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"since=\d+&until=\d+"))
    page.get_by_role("button", name="Any time again").click()
    expect(page).to_have_url(re.compile("/console/conversations$"))


def test_a_list_becomes_a_file_in_which_nothing_is_reckoned(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    data.begin(summary(0, said='=HYPERLINK("https://elsewhere.example","x")'), summary(1))
    opened(page, server)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").press("Enter")
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()

    assert len(lines) == 3
    assert '"\'=HYPERLINK(""https://elsewhere.example"",""x"")"' in lines[1]
    expect(page.locator(".notices")).to_contain_text("2 conversations are in your downloads.")


def test_a_view_is_kept_under_a_name_and_the_rail_folds(
    page: Page, server: PretendedServer, data: Invented
) -> None:
    data.begin(summary(0))
    opened(page, server, "?agent=llm", rows=False)
    page.once("dialog", lambda dialog: dialog.accept(HOSTILE[:30]))
    page.get_by_label("Views").select_option("keep")
    page.get_by_role("button", name="Icons alone").press("Enter")
    opened(page, server)
    expect(page.locator(".rail .entry > span").first).to_have_css("position", "absolute")
    page.get_by_label("Views").select_option(label=HOSTILE[:30])
    expect(page).to_have_url(re.compile(r"agent=llm"))
    page.get_by_label("Views").select_option("drop")
    left = page.get_by_label("Views").locator("option")
    expect(left).to_have_text(["This view", "Keep this view…"])


def test_a_theme_is_chosen_and_kept(page: Page, server: PretendedServer) -> None:
    opened(page, server, rows=False)
    ground = "getComputedStyle(document.body).backgroundColor"
    expect(page.get_by_role("button", name="System theme")).to_be_visible()
    light = page.evaluate(ground)
    page.get_by_role("button", name="System theme").click()
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate(ground) != light
    page.reload()
    expect(page.get_by_role("button", name="Dark theme")).to_be_visible()
    assert page.evaluate(ground) != light
