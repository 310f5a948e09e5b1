"""Visits to the page, each of which has to end without harm."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page, Route

from tests.acceptance.page.frames import AWAY, PNG
from tests.acceptance.page.scripted import WATCH, Server, harmed


@contextmanager
def a_visit(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    context = browser.new_context(**options)
    context.set_default_timeout(180_000)
    context.add_init_script(WATCH)
    context.route(f"{AWAY}/**", given)
    yield context
    context.close()


@contextmanager
def opened(visit: BrowserContext, server: Server) -> Iterator[Page]:
    with visited(visit.new_page(), server) as page:
        yield page
    page.close()


@contextmanager
def visited(page: Page, server: Server) -> Iterator[Page]:
    """Open the chat page in a tab; at its end nothing is left of the visit in the browser."""
    wrong: list[str] = []

    def failed(error: Error) -> None:
        wrong.append(str(error))

    page.on("pageerror", failed)
    try:
        page.goto(server.url)
        yield page
        assert harmed(page) == []
        assert wrong == []
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
    finally:
        page.remove_listener("pageerror", failed)


@contextmanager
def a_page(browser: Browser, server: Server, **options: Any) -> Iterator[Page]:
    with a_visit(browser, **options) as visit, opened(visit, server) as page:
        yield page


def upload(page: Page, body: bytes = PNG, name: str = "lake.png", mime: str = "image/png") -> None:
    page.get_by_label("Upload a picture").set_input_files(
        {"name": name, "mimeType": mime, "buffer": body}
    )


def paste(page: Page) -> None:
    """Paste a picture, as from the clipboard."""
    page.evaluate(
        """(bytes) => {
          const clipboardData = new DataTransfer();
          const parts = [new Uint8Array(bytes)];
          clipboardData.items.add(new File(parts, "pasted.png", { type: "image/png" }));
          const pasted = new ClipboardEvent("paste", { clipboardData, bubbles: true });
          document.body.dispatchEvent(pasted);
        }""",
        list(PNG),
    )


def given(route: Route) -> None:
    """Answer for elsewhere: there are pictures, and nothing else."""
    if route.request.url.endswith(".png"):
        route.fulfill(body=PNG, content_type="image/png")
    else:
        route.abort()
