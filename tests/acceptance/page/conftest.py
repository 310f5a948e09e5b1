"""A browser for all tests of the page, and an assistant whose wire they write themselves."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.acceptance.page.agents import PIPELINE
from tests.acceptance.page.scripted import Server, a_browser
from tests.acceptance.page.visits import a_visit, visited

expect.set_options(timeout=180_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="package")
def running(browser: Browser) -> Iterator[Server]:
    with Server(PIPELINE) as server:
        yield server


@pytest.fixture
def server(running: Server) -> Server:
    running.begin()
    return running


@pytest.fixture(scope="package")
def visit(browser: Browser) -> Iterator[BrowserContext]:
    with a_visit(browser) as visit:
        yield visit


@pytest.fixture(scope="package")
def tab(visit: BrowserContext) -> Iterator[Page]:
    """One tab for all tests: a process of its own for each would take twice as long."""
    tab = visit.new_page()
    yield tab
    tab.close()


@pytest.fixture
def page(tab: Page, server: Server) -> Iterator[Page]:
    try:
        with visited(tab, server) as page:
            yield page
    finally:
        tab.goto("about:blank")
        tab.unroute_all()
