"""Quality and Evaluations in a browser: a wrong answer is found, corrected, learned, put live."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from prolocutor.plugins.console import work_list
from prolocutor.plugins.evaluation import evaluate
from tests.acceptance.page.frames import HOSTILE
from tests.console_visits import a_console, a_visit, findings, press_chord
from tests.integration.doors.shop import Shop, answer_as
from tests.plugins.console.acceptance.shop_server import ShopServer

pytestmark = pytest.mark.browser

NASTY = f"{HOSTILE}\u202eright to left\u0000nothing https://elsewhere.example/a.png"
RIGHT = {
    "who took my money twice": "bank",
    "somebody used my plastic": "bank",
    "do I owe interest": "bank",
    "can I sit near a window": "travel",
    "does it stop in Voss": "travel",
    "may my dog come along": "travel",
    "we arrived two hours late": "refunds",
    "give me what I paid": "refunds",
    "nobody came to drive it": "refunds",
    "compensate my hotel": "refunds",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the shop, with two runs of which one answers the other's failures."""
    place = tmp_path_factory.mktemp("shop")
    asked = [{"text": f"{n} {NASTY}", "labels": [f"{n}"]} for n in range(4)]
    evaluate(lambda text: text.split()[0] if text < "2" else NASTY, asked, out=place / "runs/old")
    evaluate(lambda text: text.split()[0], asked, out=place / "runs/new")
    (place / "runs" / "broken").mkdir()
    (place / "runs" / "broken" / "run.json").write_text("{")
    return place


@pytest.fixture(scope="module")
def shop(folder: Path) -> Iterator[ShopServer]:
    store = f"sqlite:///{folder}/shop.db"
    with (
        pytest.MonkeyPatch.context() as patch,
        ShopServer(folder, runs="runs", store=store) as shop,
    ):
        patch.setattr(work_list, "FRESH_SECONDS", 0.0)  # a list is made anew each time
        yield shop


@pytest.fixture(scope="module")
def desk(browser: Browser) -> Iterator[BrowserContext]:
    with a_visit(browser, viewport={"width": 1440, "height": 900}) as desk:
        yield desk


@pytest.fixture
def here(desk: BrowserContext, shop: ShopServer) -> Iterator[Page]:
    with a_console(desk, shop.url) as page:
        yield page


def give(page: Page, agent: str) -> None:
    """Press the key of an agent for the question that is shown."""
    names = page.locator(".offer-name b, .others .other")
    expect(names.first).to_be_visible()
    place = next(n for n, one in enumerate(names.all_inner_texts()) if one.endswith(agent))
    page.keyboard.press(str(place + 1))


def said(shop: ShopServer, who: str, rating: int | None = None) -> dict[str, str]:
    """Have each question asked by a person of its own."""
    return {text: shop.asked(text, f"{who} {n}", rating) for n, text in enumerate(RIGHT)}


def put_live(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Put live").press("Enter")
    expect(page.locator(".trained")).to_have_count(0)
    expect(page.get_by_text("is in use.").last).to_be_visible()


def test_a_wrong_answer_is_found_corrected_learned_and_put_live(
    here: Page, shop: ShopServer
) -> None:
    said(shop, "user", -1)
    wrong = said(shop, "xue")  # the thumbs have taught a little
    assert any(wrong[text] != answer_as(agent) for text, agent in RIGHT.items())
    here.goto(f"{shop.url}/console/conversations")
    here.locator("h1").wait_for()
    press_chord(here, "gq")
    items = here.locator(".item")
    expect(items).to_have_count(10)
    here.get_by_role("link", name="See how").click()
    expect(here).to_have_url(re.compile("/console/conversations/[0-9a-f]{32}/[0-9a-f]{32}"))
    expect(here.locator("main")).to_contain_text(
        "learned"
    )  # which router asked this agent, and why
    here.go_back()

    for left in range(9, -1, -1):
        shown = here.locator(".label h2").inner_text()
        give(here, RIGHT[shown])
        expect(items).to_have_count(left)
        expect(here.locator(".label h2", has_text=shown)).to_have_count(0)
    here.keyboard.press("z")
    expect(items).to_have_count(1)
    give(here, RIGHT[here.locator(".label h2").inner_text()])
    expect(here.get_by_role("heading", name="All done")).to_be_visible()
    expect(here.locator(".step-word")).to_have_text("10 labels, 10 thumbs")
    expect(here.locator(".rail")).not_to_contain_text("questions to look at")

    here.get_by_role("button", name="Train the router").press("Enter")
    expect(here.locator(".trained h2")).to_have_text("A new router, beside the one in use")
    expect(here.locator(".trained")).to_contain_text("10 newly labelled")
    expect(here.locator(".versus tbody tr").first).to_contain_text("precision@1")
    expect(here.locator(".flips caption")).to_contain_text("without having been learned")
    expect(here.locator(".flips tbody tr").first).to_be_visible()
    assert findings(here) == []

    running = shop.begin(fifty_turns)
    put_live(here, "Put live")
    assert len(running()) == 50
    assert said(shop, "zoe") == {text: answer_as(agent) for text, agent in RIGHT.items()}

    here.get_by_role("button", name="Models").press("Enter")
    here.get_by_role("row", name=re.compile("used before")).get_by_role("button").press("Enter")
    put_live(here, "Go back to it")  # the labels go on teaching whichever model is in use


async def fifty_turns(shop: Shop) -> list[str]:
    texts = [*RIGHT] * 5
    return list(
        await asyncio.gather(*(shop.asked(text, f"turn {n}") for n, text in enumerate(texts)))
    )


def test_hostile_words_are_words_and_a_refused_label_comes_back(
    browser: Browser, shop: ShopServer
) -> None:
    shop.asked(NASTY, NASTY, -1)
    with (
        a_visit(browser, viewport={"width": 390, "height": 844}, color_scheme="dark") as phone,
        a_console(phone, shop.url) as page,
    ):
        page.goto(f"{shop.url}/console/quality")
        expect(page.locator(".label h2")).to_contain_text("<script>")
        assert findings(page) == []
        label = {"work": shop.do(first_item), "agents": []}
        shop.do(lambda one: one.call("POST", "/labels", label))
        page.get_by_role("button", name="Nobody").click()
        expect(page.locator(".notices")).to_contain_text("has said already who is right here")
        expect(page.locator(".item")).to_have_count(1)
        page.get_by_role("button", name="Several").click()
        page.get_by_role("button", name=re.compile("^refunds")).first.click()
        expect(page.get_by_role("button", name="This one is right")).to_be_enabled()


async def first_item(shop: Shop) -> str:
    _, page = await shop.call("GET", "/work")
    return str(page["items"][0]["id"])


def test_runs_are_read_alone_and_beside_each_other(here: Page, shop: ShopServer) -> None:
    here.goto(f"{shop.url}/console/evaluations")
    expect(here.locator(".runs tbody tr")).to_have_count(3)
    expect(here.get_by_role("row", name=re.compile("broken"))).to_contain_text("damaged")
    assert findings(here) == []
    here.keyboard.press("j")
    here.keyboard.press("Enter")
    expect(here.locator("h1")).to_have_text("new")
    expect(here.get_by_role("row", name=re.compile("^half within"))).to_be_visible()
    expect(here.get_by_role("row", name=re.compile("^precision"))).to_be_hidden()
    here.get_by_label("Compare with another run").select_option("old")
    expect(here.get_by_text("more figures")).to_be_visible()
    expect(here.get_by_role("row", name=re.compile("^accuracy"))).to_be_visible()
    expect(here.get_by_role("row", name=re.compile("^precision"))).to_be_hidden()
    here.get_by_role("link", name=re.compile("right here alone")).click()
    expect(here.locator(".examples li")).to_have_count(2)
    expect(here.locator(".examples li").first).to_contain_text("<script>")
    expect(here).to_have_url(re.compile("against=old.*kind=won"))
    assert findings(here) == []
    here.goto(f"{shop.url}/console/evaluations/broken")
    expect(here.locator("main")).to_contain_text("run.json is damaged")
    here.goto(f"{shop.url}/console/evaluations/..%2Fmodels")
    expect(here.locator("main")).to_contain_text("404")
