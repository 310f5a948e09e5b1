"""The real SDK's client finds an MCP server at the door, in both eras, over HTTP and stdio."""

import sys
from pathlib import Path
from typing import Any

from tests.plugins.mcp.integration.doors import PICTURE, served
from tests.sdk_environment import sdk_script

ASKS = {
    "yesno": (True, "yesno True"),
    "number": (7, "number 7"),
    "date": ("2026-12-24", "date 2026-12-24"),
    "time": ("19:30", "time 19:30:00"),
    "email_address": ("ann@example.org", "email_address ann@example.org"),
    "choice": ("blue", "choice {'idx': 1, 'title': 'blue'}"),
    "raw_string": ("cancel", "raw_string cancel"),
}


def call(text: str, id_: str | None = "one", tool: str = "ask") -> dict[str, Any]:
    named = {} if id_ is None else {"conversation_id": id_}
    return {"tool": tool, "arguments": {"text": text, **named}}


MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}


async def test_the_sdk_asks_answers_and_sees_what_is_shown_in_both_eras() -> None:
    calls = [
        call("hi"),
        *(call(f"ask {kind}") for kind in ASKS),
        call("ask number"),
        call("show", None, "echo"),
        {"tool": "ask", "arguments": {"txt": "?"}},
    ]
    answers = [*(answer for answer, _ in ASKS.values()), None]
    async with served(skills=True) as (url, _), sdk_script("mcp_client") as client:
        eras = {
            mode: await client.call(
                "talk", server=f"{url}/mcp", mode=mode, calls=calls, answers=answers
            )
            for mode in MODES
        }
        unasked = await client.call(
            "talk",
            server=f"{url}/mcp",
            mode="auto",
            calls=[call("ask choice"), call("the second one")],
            answers=[],
        )

    assert {mode: told["version"] for mode, told in eras.items()} == MODES
    for told in eras.values():
        check(told)
    asked, answered = (result["structured"] for result in unasked["results"])
    assert asked["ask"] == "choice"
    assert asked["answer"]["enum"] == ["red", "blue"]
    assert answered["text"] == "choice {'idx': 1, 'title': 'blue'}"


def check(told: dict[str, Any]) -> None:
    """Check what the SDK saw of the conversation."""
    hi, *answered, cancelled, shown, wrong = told["results"]
    assert set(told["tools"]) == {"ask", "echo"}
    assert "Says what you say" in told["tools"]["ask"]
    assert hi["structured"] == {
        "text": "echo hi",
        "conversation_id": "one",
        "skill": "echo",
        "confidence": 0.8,
    }
    assert hi["content"][0] == {"type": "text", "text": "echo hi"}
    said = [one["structured"]["text"] for one in answered]
    assert said == [expected for _, expected in ASKS.values()]
    assert told["asked"][0]["schema"]["properties"]["answer"] == {"type": "boolean"}
    assert "cancelled" in cancelled["structured"]["text"]
    links = [(block["type"], block.get("uri")) for block in shown["content"][1:5]]
    assert links == [
        ("resource_link", "https://example.org/more"),
        ("resource_link", "https://example.org/a.png"),
        ("image", None),
        ("resource_link", "https://example.org/card"),
    ]
    assert shown["content"][3]["data"] == PICTURE.rpartition(",")[2]
    assert wrong["error"] is True
    assert wrong["content"][0]["text"] == "text is needed"
    assert told["progress"][:2] == ["asking echo", "echo: done"]


async def test_the_sdk_starts_the_command_and_talks_to_it(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    (tmp_path / "noisy_parrot.py").write_text(
        "def say(request):\n"
        "    print('to nobody')\n"
        "    answer = request.get('answer')\n"
        "    if answer:\n"
        "        return {'text': f\"you said {answer['value']}\", 'confidence': 1.0}\n"
        "    return {'text': 'sure?', 'confidence': 1.0, 'ask': 'yesno'}\n"
    )
    file.write_text("name: Parrot\nskills: {say: {call: 'noisy_parrot:say'}}\n")
    command = [sys.executable, "-m", "prolocutor", "mcp", str(file), "--store", "memory:"]
    async with sdk_script("mcp_client") as client:
        said = [
            await client.call(
                "talk", server=command, mode=mode, calls=[call("hi")], answers=[False]
            )
            for mode in MODES
        ]

    texts = [told["results"][0]["structured"]["text"] for told in said]
    assert texts == ["you said False", "you said False"]
