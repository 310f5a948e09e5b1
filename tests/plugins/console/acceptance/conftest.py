"""A browser for all tests of the console, and a console whose data they invent."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.acceptance.page.scripted import a_browser
from tests.console_visits import a_console, a_visit
from tests.plugins.console.acceptance.pretended import Invented, PretendedServer

expect.set_options(timeout=180_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="package")
def server() -> Iterator[PretendedServer]:
    with PretendedServer(Invented()) as server:
        yield server


@pytest.fixture
def data(server: PretendedServer) -> Invented:
    server.data.begin()
    return server.data


@pytest.fixture(scope="package")
def visit(browser: Browser) -> Iterator[BrowserContext]:
    with a_visit(browser, viewport={"width": 1440, "height": 900}) as visit:
        yield visit


@pytest.fixture
def page(visit: BrowserContext, server: PretendedServer, data: Invented) -> Iterator[Page]:
    with a_console(visit, server.url) as page:
        yield page
