"""Make the pictures of docs/howto/chat-page.md: the chat page of an invented traveller."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from typing import Any, Final

from pictured import PHONE, Serve, Served, keep
from playwright.sync_api import expect, sync_playwright

from prolocutor.assistant.assistant import Assistant
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.page.channel import Page as ChatPage
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener

SIZE: Final = {"width": 1180, "height": 760}
MOST_BYTES: Final = 120_000
USER: Final = "almond:local"

BERGEN: Final = "can I get my money back if the train to Bergen is late?"
TALKS: Final = {
    "crowns": ["20 euro in crowns"],
    "lisbon": ["A card stolen in Lisbon"],
    "main": ["is the ferry from Moss on time?", BERGEN],
}
REFUND: Final = """Yes, if you arrive an hour late or more:

| late by | you get back |
|---|---|
| 1 hour | half of the fare |
| 2 hours | all of it |

- Claim within **a month**.
- Keep the ticket: its number is `NSB-88213`."""
STORY: Final = (
    "Imagine you wait for a bus with a friend. If the bus is very, very late, the driver says sorry"
    " and gives you some of your money back."
)
ANSWERS: Final = {
    "travel_bot": {"ferry": "The next ferry leaves at 15:10 and is on time."},
    "refunds": {"money back": REFUND},
    "faq_bank": {"card": "I have blocked the card that ends in 4417."},
    "currency": {"crowns": "20 euro are 233 crowns today."},
}


def agent(name: str) -> Service:
    """Return an agent that knows some words."""

    async def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        said = request["human_utterances"][-1]["text"]
        found = [text for word, text in ANSWERS[name].items() if word in said]
        return [{"text": text, "confidence": 0.9} for text in found]

    return Service(name, answer, format="markdown" if name == "refunds" else "plain")


async def llm(request: dict[str, Any]) -> AsyncIterator[str]:
    """Tell a story word by word, of which the end never comes."""
    if "child" not in request["human_utterances"][-1]["text"]:
        return
    for word in STORY.split(" ")[:24]:
        yield f"{word} "
    await asyncio.Event().wait()


async def journey(served: Serve) -> None:
    """Serve the chat page of a person who has talked before."""
    skills = [*(agent(name) for name in ANSWERS), Service("llm", llm, timeout=60.0)]
    recent = RecentTurns()
    async with Assistant(
        Pipeline(skills=skills),
        store="memory:",
        deadline=60.0,
        name="Concierge",
        observers=[recent],
    ) as assistant:
        for dialog, said in TALKS.items():
            for text in said:
                await assistant.reply(text, USER, dialog)
        page = ChatPage(DoorContext(assistant, recent=recent))
        await served(Listener(assistant, [Almond(assistant), page]))


def main() -> None:
    """Make all pictures."""
    expect.set_options(timeout=180_000)  # the machine may be busy
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with Served(journey) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(url)
        expect(page.get_by_text("half of the fare")).to_be_visible()
        page.get_by_label("Your message").fill("and explain the rule to a child")
        page.keyboard.press("Enter")
        expect(page.locator(".provisional")).to_contain_text("gives you")
        keep(page, "chat-page", MOST_BYTES)
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("stopped", exact=True)).to_be_visible()
        phone = browser.new_page(viewport=PHONE, color_scheme="dark")
        phone.goto(url)
        expect(phone.get_by_text("half of the fare")).to_be_visible()
        phone.get_by_role("button", name="Conversations").click()
        phone.get_by_label("Search what was said").fill("late")
        expect(phone.locator(".hit")).to_have_count(3)
        phone.locator(".talks").evaluate(
            "(one) => Promise.all(one.getAnimations().map((a) => a.finished))"
        )
        keep(phone, "chat-page-phone", MOST_BYTES)
        browser.close()


if __name__ == "__main__":
    main()
