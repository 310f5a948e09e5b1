"""Approvals on the page, over a kill of the assistant, and in the console, in a real browser."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.commands import Commands
from tests.acceptance.page.scripted import a_browser
from tests.console_visits import a_console, a_visit
from tests.plugins.effects.acceptance.paying import charges, written

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as browser:
        yield browser


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_person_edits_and_approves_on_the_page(
    browser: Browser, commands: Commands, tmp_path: Path
) -> None:
    file, port = written(tmp_path, "person"), free_port()
    with a_visit(browser) as visit:
        page = visit.new_page()
        with commands.serving("--port", port, file) as server:
            page.goto(server.url)
            page.get_by_label("Your message").fill("pay 50 Bob")
            page.keyboard.press("Enter")
            expect(page.get_by_role("button", name="Approve (yes)")).to_be_visible()
            server.process.kill()
            server.process.wait()
        with commands.serving("--port", port, file):
            page.get_by_role("button", name="Edit").last.click()
            page.get_by_role("button", name="amount").last.click()
            page.get_by_label("Your message").fill("15")
            page.keyboard.press("Enter")
            page.get_by_text("amount: 15").wait_for()
            page.get_by_role("button", name="Approve (yes)").last.click()
            page.get_by_text("Paid 15.").wait_for()

    assert charges(file) == ["15 Bob"]


def test_operators_approve_edit_and_refuse_in_the_console(
    browser: Browser, commands: Commands, tmp_path: Path
) -> None:
    file = written(tmp_path, "operator")
    with commands.serving(file) as server, a_visit(browser) as visit:
        for amount, name in ((50, "Bob"), (60, "Eve")):
            said = json.dumps({"user_id": "ann", "payload": f"pay {amount} {name}"})
            visit.request.post(server.url, data=said, headers={"Content-Type": "application/json"})
        with a_console(visit, server.url) as page:
            page.goto(f"{server.url}/console/agents")
            effects = page.get_by_label("Effects")
            bob = effects.get_by_role("article").filter(has_text="Pay Bob")
            bob.get_by_role("button", name="Approve").click()
            page.get_by_role("dialog").get_by_label("amount").fill("15")
            page.get_by_role("dialog").get_by_role("button", name="Approve").click()
            expect(bob).to_have_count(0)
            eve = effects.get_by_role("article").filter(has_text="Pay Eve")
            eve.get_by_role("button", name="Refuse").click()
            page.get_by_role("dialog").get_by_role("button", name="Refuse").click()
            expect(effects).to_have_count(0)
        rows = commands.output("effects", "list", "--all", "--assistant", file, "--json")

    states = {item["title"]: item["state"] for item in json.loads(rows)["items"]}
    assert states == {"Pay Bob": "done", "Pay Eve": "refused"}
    assert charges(file) == ["15 Bob"]
