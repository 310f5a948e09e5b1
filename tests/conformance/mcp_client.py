"""The client that MCP's kit starts: it uses tools of the kit's server by our connector.

The kit adds the server's address to the command line, and names its scenario in the environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from aiohttp import ClientSession, CookieJar

from prolocutor import Assistant, Pipeline, Service
from prolocutor.plugins.mcp.connector.connector import McpTool
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.plugins.mcp.oauth.settings import OAuthSettings
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener

TIMEOUT = 20.0
MOST_ASKS = 10
USER = "ann"
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The address of a client metadata document, as the kit has it."""

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
        await use(
            McpTool(
                url=url, tool=tool or None, arguments=arguments, oauth=settings(scenario, context)
            )
        )


def settings(scenario: str, context: dict[str, Any]) -> OAuthSettings:
    """Return how the scenario wants its client to sign in."""
    client = context.get("client_id") or DOCUMENT
    if "valid_jwt" in context:
        return OAuthSettings(grant="jwt_bearer", client_id=client, assertion=context["valid_jwt"])
    if scenario.startswith("auth/client-credentials"):
        return OAuthSettings(
            grant="client_credentials",
            client_id=client,
            client_secret=context.get("client_secret"),
            private_key=context.get("private_key_pem"),
        )
    return OAuthSettings(
        client_id=client,
        client_secret=context.get("client_secret"),
        issuer=context.get("issuer"),
    )


async def use(options: McpTool) -> None:
    """Have a person talk to an assistant with this tool as its only skill."""
    skill = Service("kit", options, timeout=TIMEOUT)
    pipeline = Pipeline(skills=[skill])
    async with Assistant(pipeline, store="memory:", deadline=2 * TIMEOUT) as assistant:
        app = Listener(assistant, [Mcp(assistant)])
        jar = CookieJar(unsafe=True)
        async with running(app) as url, ClientSession(url, cookie_jar=jar) as browser:
            text = "hi"
            for _ in range(MOST_ASKS):
                reply = await assistant.reply(text, user=USER)
                print(reply.text)
                for message in reply.attributes.get("messages", ()):
                    if message["type"] == "link":
                        async with browser.get(message["url"]) as page:
                            print(page.status, await page.text())
                if "ask" not in reply.attributes:
                    break
                text = "yes"
    if options.tool is not None and reply.active_skill != "kit":
        sys.exit("the tool gave no answer")


if __name__ == "__main__":
    asyncio.run(main())
