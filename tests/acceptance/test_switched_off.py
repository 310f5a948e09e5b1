"""What an operator switches off stays off, also after the server was killed."""

import json
import urllib.request
from pathlib import Path
from typing import Any

from tests.acceptance.commands import Commands

FILE = """\
skills:
  first: {call: "two_agents:first", inline: true}
  second: {call: "two_agents:second", inline: true}
"""

CODE = """\
def first(request):
    return {"text": "first", "confidence": 0.9}

def second(request):
    return {"text": "second", "confidence": 0.1}
"""


def ask(url: str, path: str, **body: Any) -> Any:
    headers = {"Content-Type": "application/json"}
    sent = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(url + path, sent, headers)) as response:
        return json.load(response)


def said(url: str) -> str:
    answer = ask(url, "/", user_id="ann", payload="hi")
    return str(answer["response"])


def test_a_switch_survives_a_kill_and_its_trace_is_in_the_record(
    commands: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE)
    (tmp_path / "two_agents.py").write_text(CODE)
    agents = "/api/console/agents"
    with commands.serving(file) as server:
        replies = [said(server.url)]
        off = ask(server.url, f"{agents}/first/switch", on=False)
        replies.append(said(server.url))
        server.process.kill()
    with commands.serving(file) as server:
        replies.append(said(server.url))
        alone = ask(server.url, f"{agents}/first/alone", text="hi")
        states = {item["name"]: item["state"] for item in ask(server.url, agents)["items"]}
        ask(server.url, f"{agents}/first/switch", on=True)
        replies.append(said(server.url))

    assert replies == ["first", "second", "second", "first"]
    assert off["state"] == "off"
    assert off["note"] == "switched off by local"
    assert states == {"first": "off", "second": "well"}
    assert [hypothesis["text"] for hypothesis in alone["hypotheses"]] == ["first"]
