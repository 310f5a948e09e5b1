"""Visits to the console, each of which has to end without harm."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.acceptance.page.scripted import WATCH

EXPECTED = ("Failed to load resource", "WebSocket connection to")
"""What the browser's console says of every answer of 400 and more, and of a server that is away."""


@contextmanager
def a_visit(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    context = browser.new_context(**options)
    context.set_default_timeout(180_000)
    context.add_init_script(WATCH)
    yield context
    context.close()


@contextmanager
def a_console(visit: BrowserContext, url: str) -> Iterator[Page]:
    """Open a tab; at its end nothing has run that was text, and nobody else was asked."""
    page = visit.new_page()
    wrong: list[str] = []

    def logged(message: Any) -> None:
        if message.type == "error" and not message.text.startswith(EXPECTED):
            wrong.append(message.text)

    def requested(request: Any) -> None:
        if not request.url.startswith(url):
            wrong.append(request.url)

    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", logged)
    page.on("request", requested)
    page.goto(f"{url}/console/files/icon.svg")
    yield page
    if problems := harmed(page) + wrong:
        pytest.fail("\n".join(problems))
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.close()


def press_chord(page: Page, keys: str) -> None:
    """Press keys that belong together; the page counts the time between them."""
    page.evaluate(
        """keys => [...keys].forEach((key) =>
          document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))""",
        keys,
    )


def harmed(page: Page) -> list[str]:
    """Return what shows that a page took something for more than text; it should be nothing."""
    found: list[str] = page.evaluate(
        """() => [
          ...(window.harmed ?? []),
          ...[...document.querySelectorAll("script, iframe, object, embed, img, base, [action]")]
            .filter((one) => !one.src?.startsWith(location.origin))
            .map((one) => one.outerHTML),
          ...[...document.querySelectorAll("b")]
            .filter((one) => one.innerHTML === "bold").map((one) => one.outerHTML),
          ...[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes])
            .filter((one) => /^on|^srcdoc$/.test(one.name) || (
              /^(href|src|action|formaction|data|poster|xlink:href)$/.test(one.name)
              && !/^([/](?![/])|#)/.test(one.value)))
            .map((one) => `${one.name}=${one.value}`),
        ]"""
    )
    return found


@functools.cache
def axe() -> str:
    """Return the program of axe-core."""
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


def findings(page: Page) -> list[str]:
    """Return what axe-core finds wrong with a page as it is now, and what sticks out of it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe())
    found: list[str] = page.evaluate(
        """async () => {
          const { violations } = await axe.run();
          const wide = document.documentElement.scrollWidth - innerWidth;
          return [
            ...violations.flatMap((one) => one.nodes.map((node) =>
              `${one.id}: ${node.target} ${node.failureSummary}`)),
            ...(wide > 0 ? [`it is ${wide} px too wide`] : []),
          ];
        }"""
    )
    return found
