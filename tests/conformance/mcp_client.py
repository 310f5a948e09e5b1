"""The client that MCP's kit starts: it uses tools of the kit's server by our connector.

The kit adds the server's address to the command line, and names its scenario in the environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from prolocutor.plugins.mcp.connector.connector import McpConnector, McpTool
from prolocutor.testing.fake_service import FakeRequest

TIMEOUT = 20.0
MOST_ASKS = 10

TOOLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "initialize": [],
    "tools_call": [("add_numbers", {"a": 5, "b": 3})],
    "elicitation-sep1034-client-defaults": [("test_client_elicitation_defaults", {})],
    "sse-retry": [("test_reconnection", {})],
    "sep-2322-client-request-state": [
        ("test_mrtr_echo_state", {}),
        ("test_mrtr_unrelated", {}),
        ("test_mrtr_no_state", {}),
        ("test_mrtr_no_result_type", {}),
    ],
    "request-metadata": [("", {})],
    "http-standard-headers": [("test_headers", {})],
    "http-invalid-tool-headers": [("valid_tool", {"region": "us-west1"})],
    "json-schema-ref-no-deref": [("", {})],
    "json-schema-2020-12-preservation": [("", {})],
}
"""The tools that a scenario wants called, with their arguments; one without a name is only asked
for. A scenario that is not here wants `test-tool`, as those of `auth/` do."""


async def main() -> None:
    """Call the tools of the scenario, and fail where one cannot be called."""
    scenario, url = os.environ["MCP_CONFORMANCE_SCENARIO"], sys.argv[-1]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    calls = TOOLS.get(scenario, [("test-tool", {})])
    given = [(one["name"], one["arguments"]) for one in context.get("toolCalls", ())]
    for tool, arguments in given or calls:
        options = McpTool(url=url, tool=tool or None, arguments=arguments)
        await use(McpConnector(options, name="kit"))


async def use(connector: McpConnector) -> None:
    """Ask the server what the tool is, then call it, and answer what it asks."""
    try:
        print(await connector.describe())
        request: dict[str, Any] = state()
        for _ in range(MOST_ASKS):
            (reply,) = await connector.send([FakeRequest(request, timeout=TIMEOUT)])
            if isinstance(reply, Exception):
                raise reply
            print(reply.value)
            said = reply.value[0]
            if "ask" not in said:
                return
            request = state(said)
    finally:
        await connector.aclose()


def state(said: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what a skill is shown: at first a word, then "yes" to what was asked."""
    made: dict[str, Any] = {
        "dialog_id": "0" * 32,
        "utterances": [{"text": "hi"}],
        "human": {"attributes": (said or {}).get("human_attributes", {})},
    }
    if said is not None:
        made["answer"] = {"kind": said["ask"], "value": True, "raw": "yes"}
    return made


if __name__ == "__main__":
    asyncio.run(main())
