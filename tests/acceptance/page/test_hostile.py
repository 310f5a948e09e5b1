"""What others wrote is text, whatever it looks like."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.page.frames import (
    HOSTILE,
    MESSAGES,
    log,
    message,
    said,
)
from tests.acceptance.page.scripted import NOTHING, Server, asks, harmed

pytestmark = pytest.mark.browser


def spoilt(fields: Any) -> Iterator[Any]:
    """Return a message's fields with one value after the other replaced by something hostile."""
    for key, value in fields.items():
        if isinstance(value, dict):
            yield from ({**fields, key: one} for one in spoilt(value))
        for hostile in (HOSTILE, "data:text/html,<script>alert(1)</script>", {"__html": HOSTILE}):
            yield {**fields, key: hostile}


@pytest.mark.parametrize("kind", MESSAGES)
def test_nothing_in_a_message_runs(page: Page, server: Server, kind: str) -> None:
    server.opened()
    fields = {**MESSAGES[kind], "icon": "sure", "utt_id": "0" * 32}
    frames = [{**one, "id": n, "type": kind} for n, one in enumerate(spoilt(fields))]
    server.send(*frames, message(len(frames), text="That was all."), asks("choice"))
    expect(log(page)).to_contain_text("That was all.")
    for each in log(page).locator("summary").all():
        each.click()

    assert harmed(page) == []
    expect(log(page)).to_contain_text("<b>bold</b>")


def test_nothing_in_a_frame_runs(page: Page, server: Server) -> None:
    server.opened()
    server.send(
        said(0, HOSTILE),
        {"type": "command", "id": 1, "command": {"__html": HOSTILE}},
        {"type": "error", "error": HOSTILE, "message": HOSTILE, "code": HOSTILE},
        {"type": HOSTILE, "id": 2, "text": HOSTILE},
        {"type": "__proto__", "id": 3, "text": HOSTILE},
        {**NOTHING, "ask": HOSTILE},
        {"type": "id", "id": HOSTILE},
        {"type": "new-device", "uniqueId": HOSTILE, "state": {"kind": HOSTILE}},
        {"type": "hypothesis", "hypothesis": HOSTILE},
        message(4, text="That was all."),
        {**asks("yesno"), "context": {"code": [HOSTILE], "entities": {HOSTILE: HOSTILE}}},
    )

    expect(log(page)).to_contain_text("That was all.")
    expect(page.locator("[data-ask]")).to_have_attribute("data-ask", "yesno")
    assert harmed(page) == []
