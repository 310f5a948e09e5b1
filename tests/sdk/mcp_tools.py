"""A server of the real MCP SDK, over `stdio` or `http`; that one prints its URL."""

import asyncio
import os
import socket
import sys
import threading
from typing import Annotated, Any, Literal

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import CallToolResult, ImageContent, ResourceLink, TextContent
from pydantic import BaseModel

server = MCPServer("tools", instructions="Tools for tests.")
seen: list[str] = []


class Reply(BaseModel):
    """What a bot says."""

    text: str
    confidence: float


class Wish(BaseModel):
    """What is wanted."""

    topping: str
    count: int


class Size(BaseModel):
    """A size to choose."""

    size: Literal["small", "large"]


@server.tool(description="Answers questions about the weather.")
async def weather(question: str, conversation_id: str | None = None) -> Reply:
    return Reply(text=f"sunny: {question} [{len(conversation_id or '')}]", confidence=0.9)


@server.tool()
async def words(text: str) -> CallToolResult:
    return CallToolResult(
        content=[
            TextContent(type="text", text="one"),
            TextContent(type="text", text=text),
            ResourceLink(type="resource_link", name="more", uri="https://example.org/more"),
            ImageContent(type="image", data="aGk=", mime_type="image/png"),
        ]
    )


@server.tool()
async def several(text: str) -> list[Reply]:
    return [Reply(text=text, confidence=0.2), Reply(text=text.upper(), confidence=0.8)]


@server.tool()
async def plain_dict(text: str) -> dict:  # type: ignore[type-arg]
    return {"text": text, "confidence": 0.7}


@server.tool()
async def fails(text: str) -> str:
    raise ValueError(f"the cupboard is bare: {text}")


@server.tool()
async def order(text: str, ctx: Context) -> str:
    asked = await ctx.elicit("Which topping, and how many?", Wish)
    if asked.action != "accept":
        return f"no order: {asked.action}"
    return f"{asked.data.count} with {asked.data.topping}, as in {text}"


async def which(text: str) -> Elicit[Size]:
    return Elicit(f"Which size of {text}?", Size)


@server.tool()
async def choose(text: str, size: Annotated[Size, Resolve(which)]) -> str:
    return f"a {size.size} {text}"


@server.tool()
async def waits(text: str) -> str:
    try:
        seen.append("waits")
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise
    return text


@server.tool()
async def history(text: str) -> str:
    return " ".join(seen)


@server.tool()
async def echo(request: Any) -> dict[str, Any]:
    if isinstance(request, dict):
        await asyncio.sleep(request.get("seconds", 0))
        if "raise" in request:
            raise ValueError(request["raise"])
    return {"result": request}


@server.tool()
async def dies(text: str) -> str:
    os._exit(7)


def serve_http() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        http = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="critical"))

        def wait_for_the_end() -> None:
            sys.stdin.read()
            http.should_exit = http.force_exit = True

        threading.Thread(target=wait_for_the_end, daemon=True).start()
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        http.run([listening])


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        serve_http()
    else:
        server.run("stdio")
