"""`prolocutor effects` beside a server, and on a store that nobody has."""

import json
import signal
import urllib.request
from pathlib import Path

from tests.acceptance.commands import Commands

FILE = """\
skills:
  payments:
    call: two_payments:pay
    acts: true
    on_unknown: ask_operator
    approve: operator
    preview: two_payments:preview
    rule: amount < 20
"""

CODE = """\
def preview(request):
    words = request["utterances"][-1]["text"].split()
    return {"title": f"Pay {words[-1]}", "fields": {"amount": int(words[-1])}}

def pay(request):
    if request["effect"]["fields"]["amount"] == 13:
        raise ConnectionError("the bank is gone")
    return {"text": "Paid.", "confidence": 0.9}
"""


def said(url: str, text: str) -> str:
    sent = json.dumps({"user_id": "ann", "payload": text}).encode()
    request = urllib.request.Request(url, sent, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return str(json.load(response)["response"])


def test_operators_see_and_settle_effects_beside_a_server_and_without(
    commands: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE)
    (tmp_path / "two_payments.py").write_text(CODE)
    with commands.serving(file) as server:
        replies = [said(server.url, f"pay {amount}") for amount in (5, 50, 13)]
        listed = json.loads(commands.output("effects", "list", "--assistant", file, "--json"))
        keys = {item["state"]: item["key"] for item in listed["items"]}
        commands.output("effects", "resolve", keys["waiting"], "approve", "--assistant", file)
        assert server.end(signal.SIGTERM) == 0
    acts = commands.output("audit", "--store", file)
    commands.output("effects", "resolve", keys["unknown"], "done", "--assistant", file)
    left = commands.output("effects", "show", keys["unknown"], "--assistant", file)

    assert replies == [
        "Paid.",
        "“Pay 50” needs an approval first. I will tell you.",
        "I do not know yet whether this was done: “Pay 13”. I will tell you.",
    ]
    assert f"effects/{keys['waiting']}" in acts
    assert "by the command line" in left
    assert "field      amount: 13" in left


def test_a_faulty_rule_and_a_missing_function_have_their_lines(
    commands: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE.replace("amount < 20", "amount <").replace(":preview", ":missing"))
    (tmp_path / "two_payments.py").write_text(CODE)

    said = commands.run("check", file).stderr

    assert "assistant.yaml:8: skills.payments.rule: 'amount <': invalid syntax" in said
    assert "assistant.yaml:7: skills.payments.preview: " in said


def test_an_effect_that_is_not_there_is_said_so(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE)
    (tmp_path / "two_payments.py").write_text(CODE)

    refused = commands.run("effects", "show", "none", "--assistant", file)

    assert refused.returncode == 1
    assert "there is no effect none" in refused.stderr
