"""People sign in at the page and the console with an identity provider, and out again."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue

from playwright.sync_api import Browser, expect

from prolocutor.assistant.assistant import Assistant
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.console.channel import Console
from prolocutor.plugins.openid.openid_settings import ClaimRule, OpenIdSettings
from prolocutor.plugins.openid.sign_in import SignIn
from prolocutor.plugins.page.channel import Page
from prolocutor.testing.channel_kit import Gate, pipeline, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener
from tests.openid_provider import CLIENT, SECRET, OpenIdProvider, openid_provider

RULE = ClaimRule(claim="groups", values=("support",))


@contextmanager
def signing_in() -> Iterator[tuple[str, OpenIdProvider]]:
    """Serve an assistant and an identity provider in a thread of their own."""
    ready: Queue[tuple[str, OpenIdProvider, asyncio.AbstractEventLoop, asyncio.Event]] = Queue()

    async def serve() -> None:
        stop = asyncio.Event()
        async with (
            openid_provider() as provider,
            Assistant(pipeline(Gate()), store="memory:") as assistant,
        ):
            settings = OpenIdSettings(
                issuer=provider.issuer, client_id=CLIENT, client_secret=SECRET, operators=(RULE,)
            )
            doors = [
                Almond(assistant),
                Page(DoorContext(assistant)),
                Console(DoorContext(assistant)),
            ]
            sign_in = SignIn(assistant, settings, tuple(door.prefix for door in doors))
            auth = AccessPolicy(sign_in=True)
            app = Listener(assistant, [*doors, sign_in], auth=auth, sessions=sign_in)
            async with running(app) as url:
                ready.put((url, provider, asyncio.get_running_loop(), stop))
                await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    url, provider, loop, stop = ready.get(timeout=60)
    try:
        yield url, provider
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def test_a_person_and_an_operator_sign_in_and_out(browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    with signing_in() as (url, provider):
        provider.user["groups"] = ["support"]
        page.goto(url)
        page.get_by_role("link", name="Sign in").click()
        page.get_by_role("textbox").first.fill("hello")
        page.keyboard.press("Enter")
        expect(page.get_by_text("1: hello")).to_be_visible()

        page.goto(f"{url}/console")
        expect(page.get_by_text("· Ann")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"{provider.issuer}/end?*")

        page.goto(f"{url}/console")
        page.get_by_role("link", name="Sign in").click()
        expect(page.get_by_text("· Ann")).to_be_visible()
        page.goto(url)
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"{provider.issuer}/end?*")
        page.goto(url)
        expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    context.close()
