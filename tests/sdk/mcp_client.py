"""The real MCP SDK's client: one conversation with a server, over HTTP or stdio."""

from typing import Any

import mcp_types as types
from answering import answer
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


def told(result: Any) -> dict[str, Any]:
    """Return what a result says, as plain data."""
    return {
        "error": bool(result.is_error),
        "structured": result.structured_content,
        "content": [block.model_dump(mode="json", exclude_none=True) for block in result.content],
    }


async def talk(
    server: str | list[str], mode: str, calls: list[dict[str, Any]], answers: list[Any]
) -> dict[str, Any]:
    """Make calls one after the other in one conversation; `answers` are those to elicitations."""
    asked: list[dict[str, Any]] = []
    progress: list[str] = []

    async def on_elicit(_: Any, params: Any) -> types.ElicitResult:
        asked.append({"message": params.message, "schema": params.requested_schema})
        given = answers[len(asked) - 1]
        if given is None:
            return types.ElicitResult(action="cancel")
        return types.ElicitResult(action="accept", content={"answer": given})

    async def on_progress(_: float, __: float | None, message: str | None) -> None:
        progress.append(message or "")

    made = (
        server
        if isinstance(server, str)
        else stdio_client(StdioServerParameters(command=server[0], args=server[1:]))
    )
    elicits = {"elicitation_callback": on_elicit} if answers else {}
    async with Client(made, mode=mode, **elicits) as client:
        tools = (await client.list_tools()).tools
        results = []
        for call in calls:
            found = await client.call_tool(
                call["tool"], call["arguments"], progress_callback=on_progress
            )
            results.append(told(found))
        return {
            "version": client.protocol_version,
            "tools": {tool.name: tool.description for tool in tools},
            "results": results,
            "asked": asked,
            "progress": progress,
        }


if __name__ == "__main__":
    answer(talk)
