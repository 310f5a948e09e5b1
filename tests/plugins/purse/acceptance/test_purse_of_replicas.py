"""A purse that three replica processes share at full load, and what operators see of it."""

import asyncio
import csv
import json
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.commands import Commands
from tests.acceptance.page.scripted import a_browser
from tests.console_visits import a_console, a_visit
from tests.postgresql_server import emptied

FILE = """\
store: {database}
purse: {{total_day: 10, at_limit: decline, currency: EUR}}
skills:
  writer:
    call: counted_writer:write
    card: {{price: 0.5}}
    timeout: 60
deadline: 90
"""

CODE = """\
import os
from pathlib import Path

def write(request):
    with (Path(__file__).parent / "calls").open("a") as calls:
        calls.write(f"{os.getpid()}\\n")
    return {"text": "Well.", "confidence": 0.9}
"""

REPLICAS = 3
PERSONS = 40
"""How many persons talk to each replica at once."""


def said(url: str, person: str) -> str:
    sent = json.dumps({"user_id": person, "payload": "write"}).encode()
    request = urllib.request.Request(url, sent, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return str(json.load(response)["response"])


def talked(urls: Sequence[str]) -> list[str]:
    """Have all persons talk to their replicas at once; return what they are told."""
    places = [
        (url, f"{place}-{number}") for number in range(PERSONS) for place, url in enumerate(urls)
    ]
    with ThreadPoolExecutor(len(places)) as pool:
        return list(pool.map(lambda one: said(*one), places))


@pytest.mark.browser
@pytest.mark.slow
def test_three_processes_keep_a_limit_that_the_console_shows(
    commands: Commands, tmp_path: Path, worker_database: str
) -> None:
    asyncio.run(emptied(worker_database))
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE.format(database=worker_database))
    (tmp_path / "counted_writer.py").write_text(CODE)
    with ExitStack() as stack:
        urls = [stack.enter_context(commands.serving(file)).url for _ in range(REPLICAS)]
        replies = talked(urls)
        browser = stack.enter_context(a_browser())
        visit = stack.enter_context(a_visit(browser, accept_downloads=True))
        page = stack.enter_context(a_console(visit, urls[0]))
        table = seen_by_operators(page, urls[0])

    calls = (tmp_path / "calls").read_text().split()
    assert len(calls) == 20
    assert len(set(calls)) == REPLICAS
    assert replies.count("Well.") == 20
    assert sum(float(one["amount"]) for one in table) == pytest.approx(10.0)
    assert sum(int(one["calls"]) for one in table) == 20


def seen_by_operators(page: Page, url: str) -> list[dict[str, str]]:
    """Look at the figures of the console, and return the table that it gives."""
    page.goto(f"{url}/console/agents")
    spending = page.get_by_label("Spending")
    expect(spending.get_by_role("heading")).to_have_text("Spent in 30 days: 10.00 EUR")
    expect(spending.get_by_role("row", name="writer")).to_contain_text("20 calls")
    expect(spending.locator(".wrong")).to_contain_text("10.00 EUR of 10.00 EUR")
    spending.get_by_role("button", name="By person").click()
    expect(spending.get_by_role("row")).to_have_count(20)
    with page.expect_download() as download:
        spending.get_by_role("link", name="CSV").click()
    return list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
