"""Effects at an MCP server: the key in `_meta`, and the tool's arguments as what is approved."""

import json
import sys
from pathlib import Path

from prolocutor import Assistant, Pipeline, Skill
from prolocutor.plugins.mcp.connector.connector import McpTool

SERVER = """\
import json, os, sys

TOOL = {
    "name": "pay", "title": "Pay somebody",
    "inputSchema": {"type": "object", "required": ["text"], "properties": {
        "text": {"type": "string", "title": "To"}, "amount": {"type": "number"}}},
}

def result(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "bank", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL, {"name": "status", "inputSchema": {"type": "object"}}]}
    if method == "tools/call" and params["name"] == "status":
        found = {"state": "done", "text": f"Receipt of {params['arguments']['key']}"}
        return {"content": [{"type": "text", "text": json.dumps(found)}]}
    if method == "tools/call" and "dies" in sys.argv:
        os._exit(1)
    if method == "tools/call":
        with open(sys.argv[1], "a") as log:
            log.write(json.dumps(params) + "\\n")
        return {"content": [{"type": "text", "text": "Paid."}]}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    found = result(asked["method"], asked.get("params", {}))
    failed = {"error": {"code": -32601, "message": "no such method"}}
    answer = failed if found is None else {"result": found}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


async def test_a_tool_is_called_with_the_approved_arguments_and_the_key(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    log = tmp_path / "calls"
    tool = McpTool(
        tool="pay",
        run=[sys.executable, str(tmp_path / "server.py"), str(log)],
        arguments={"amount": 20},
        protocol="2025-06-18",
    )
    skill = Skill(tool, name="bank", acts=True, approve="person", timeout=20.0)
    async with Assistant(Pipeline(skills=[skill]), store="memory:", deadline=30.0) as assistant:
        said = [await assistant.reply(words, "ann") for words in ("Bob", "edit", "amount", "15")]
        done = await assistant.reply("approve", "ann")
        (stored,) = await assistant.effects.ledger.list_effects(closed=True)

    assert said[0].text == "Shall I do this? “Pay somebody”\nTo: Bob\namount: 20"
    assert done.text == "Paid."
    (called,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert called["arguments"] == {"text": "Bob", "amount": 15}
    assert called["_meta"] == {"idempotencyKey": stored.record.key}


async def test_a_tool_tells_the_outcome_of_an_effect_whose_server_died(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    program = [sys.executable, str(tmp_path / "server.py"), str(tmp_path / "calls")]
    tool = McpTool(tool="pay", run=[*program, "dies"], protocol="2025-06-18")
    status = {
        "call": {"run": program, "tool": "status", "protocol": "2025-06-18"},
        "connector": "mcp",
    }
    skill = Skill(tool, name="bank", acts=True, reconcile=status, timeout=20.0)
    async with Assistant(Pipeline(skills=[skill]), store="memory:", deadline=30.0) as assistant:
        reply = await assistant.reply("Bob", "ann")
        (stored,) = await assistant.effects.ledger.list_effects(closed=True)

    assert reply.text == f"Receipt of {stored.record.key}"
    assert stored.record.state == "done"
