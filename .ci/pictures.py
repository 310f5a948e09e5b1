"""Make the pictures of docs/howto/console.md: the console of an invented shop, in a browser."""

import asyncio
import shutil
from typing import Any, Final

from pictured import PHONE, Serve, Served, keep
from playwright.sync_api import Page, expect, sync_playwright

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.console.channel import Console
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener

SIZE: Final = {"width": 1280, "height": 760}
BERGEN: Final = "can I get my money back if the train to Bergen is late?"
MOST_BYTES: Final = 100_000

Known = dict[str, tuple[str, float]]

AGENTS: Final[dict[str, tuple[float, float, str, Known]]] = {
    "travel_bot": (
        0.12,
        0.004,
        "Trains, buses and ferries: times, delays, seats.",
        {"ferry": ("The next ferry leaves at 15:10 and is on time.", 0.9)},
    ),
    "refunds": (
        0.08,
        0.002,
        "Money back: claims, delays, cancelled journeys.",
        {
            "money": ("To claim money back I need the number of the order.", 0.6),
            "refund": ("Your claim was handed in. It takes about 5 days.", 0.95),
            "person": ("A person of the team takes over.", 0.9),
        },
    ),
    "faq_bank": (
        0.03,
        0.001,
        "The bank's own questions and answers.",
        {"card": ("I have blocked the card that ends in 4417.", 0.9)},
    ),
    "weather": (0.05, 0.0, "Weather by place and day.", {"rain": ("Rain from 7, 11 mm.", 0.95)}),
    "llm": (
        0.9,
        0.0031,
        "Answers anything in a few sentences. Slow: asked last.",
        {
            "money": (
                "Within a month you can claim half of the fare if you arrive an hour late.",
                0.7,
            ),
            "APR": ("APR leaves compounding out; APY counts it in.", 0.8),
        },
    ),
}
TALKS: Final = {
    "page:ola": ["my card was stolen in Lisbon", "thank you"],
    "page:liv": ["does it rain tomorrow"],
    "page:jonas": ["kan du hjelpe meg med BankID?"],
    "page:kari": ["the ferry from Moss", "refund for order 88213"],
    "telegram:41": ["what is the difference between APR and APY"],
    "page:nina": ["I was charged twice", "I want to talk to a person"],
    "ann": ["hello", "does it rain in Oslo?", BERGEN],
}


def agent(name: str) -> Service:
    """Return an agent that knows some words, and fails for one question if it is the travel bot."""
    seconds, price, description, known = AGENTS[name]

    async def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        said = request["human_utterances"][-1]["text"]
        if name == "travel_bot" and said == BERGEN:
            await asyncio.sleep(0.7)
            raise ConnectionError("503 Service Unavailable from http://travel.example/ask")
        await asyncio.sleep(seconds)
        return [hypothesis(said, *known[word]) for word in known if word in said]

    return Service(name, answer, timeout=3.0, card={"description": description, "price": price})


def hypothesis(said: str, text: str, confidence: float) -> dict[str, Any]:
    """Return an answer; the first question of a person who is worried is noted."""
    found: dict[str, Any] = {"text": text, "confidence": confidence}
    if "person" in said:
        found["attributes"] = {"wants_person": "was charged twice"}
    if said == BERGEN:
        found["human_attributes"] = {"last_place": "Bergen"}
    return found


async def entities(request: dict[str, Any]) -> list[dict[str, str]]:
    """Return the places of a text."""
    await asyncio.sleep(0.02)
    said = request["human_utterances"][-1]["text"]
    return [{"text": place} for place in ("Bergen", "Oslo", "Moss", "Lisbon") if place in said]


async def language(_: dict[str, Any]) -> str:
    """Return a language."""
    return "en"


async def shop(served: Serve) -> None:
    """Serve the console of an assistant with whom some people have talked."""
    pipeline = Pipeline(
        annotators=[Service("language", language), Service("entities", entities)],
        skills=[agent(name) for name in AGENTS],
    )
    fallback = "I have no answer to that."
    async with Assistant(
        pipeline, store="memory:", name="Concierge", fallback=fallback
    ) as assistant:
        app = Listener(assistant, [Console(DoorContext(assistant))])
        async with asyncio.TaskGroup() as people:
            for user, said in TALKS.items():
                people.create_task(talk(assistant, user, said))
        await served(app)


async def talk(assistant: Assistant, user: str, said: list[str]) -> None:
    """Let a person talk; two of them dislike what they hear."""
    for text in said:
        reply = await assistant.reply(text, user)
    if user in ("ann", "page:jonas"):
        await assistant.archive.rate(reply.utt_id, -1, user)


def kept(page: Page, name: str) -> None:
    """Write what a page of the console shows."""
    page.mouse.move(0, 0)
    keep(page, f"console-{name}", MOST_BYTES)


def main() -> None:
    """Make all pictures."""
    expect.set_options(timeout=180_000)  # the machine may be busy
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with Served(shop) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(f"{url}/console")
        expect(page.locator("[data-row]")).to_have_count(len(TALKS))
        page.wait_for_load_state("networkidle")
        kept(page, "list")
        page.get_by_text(BERGEN).click()
        expect(page.locator(".gantt")).to_be_visible()
        kept(page, "turn")
        page.goto(f"{url}/console/agents")
        page.locator(".agents-table .agent-name", has_text="travel_bot").click()
        expect(page.get_by_role("complementary")).to_contain_text("503 Service Unavailable")
        page.wait_for_load_state("networkidle")
        kept(page, "agents")
        page.goto(f"{url}/console/quality")
        page.locator(".item", has_text=BERGEN).click()
        expect(page.get_by_role("heading", name=BERGEN)).to_be_visible()
        page.wait_for_load_state("networkidle")
        kept(page, "quality")
        phone = browser.new_page(viewport=PHONE, color_scheme="dark")
        phone.goto(f"{url}/console?kind=waits")
        phone.locator("[data-row]").click()
        phone.get_by_role("button", name="Take over").last.click()
        expect(phone.get_by_text("You answer.")).to_be_visible()
        kept(phone, "phone")
        browser.close()


if __name__ == "__main__":
    main()
