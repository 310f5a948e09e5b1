"""`prolocutor rollout` beside a server, and on a store that nobody has."""

import json
import urllib.request
from pathlib import Path

from tests.acceptance.commands import Commands

FILE = """\
skills:
  old: {call: "two_agents:old", inline: true}
  new:
    call: two_agents:new
    inline: true
    canary: {instead_of: old, share: 1}
    shadow: {calls_per_minute: 5}
"""

CODE = """\
def old(request):
    return {"text": "old", "confidence": 0.9}

def new(request):
    return {"text": "new", "confidence": 0.9}
"""


def said(url: str) -> str:
    sent = json.dumps({"user_id": "ann", "payload": "hi"}).encode()
    request = urllib.request.Request(url, sent, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return str(json.load(response)["response"])


def test_a_stopped_canary_is_stopped_at_once_and_after_a_restart(
    commands: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE)
    (tmp_path / "two_agents.py").write_text(CODE)
    with commands.serving(file) as server:
        replies = [said(server.url)]
        running = commands.output("rollout", "status", "--assistant", file)
        commands.output("rollout", "stop", "new", "--assistant", file)
        replies.append(said(server.url))
        acts = commands.output("audit", "--store", file)
    stopped = json.loads(commands.output("rollout", "status", "--assistant", file, "--json"))
    promoted = commands.output("rollout", "promote", "new", "--assistant", file)
    with commands.serving(file) as server:
        replies.append(said(server.url))

    assert replies == ["new", "old", "new"]
    assert running.startswith("new (skills): instead of old for 100 % of people, running\n")
    assert "rollout/new" in acts
    assert stopped["items"][0]["trial"]["state"] == "stopped"
    assert "promoted" in promoted.splitlines()[0]


def test_a_service_that_is_not_tried_out_is_named_with_those_that_are(
    commands: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE)
    (tmp_path / "two_agents.py").write_text(CODE)

    words = commands.complaint("rollout", "stop", "newer", "--assistant", file)

    assert "no service newer is tried out" in words
