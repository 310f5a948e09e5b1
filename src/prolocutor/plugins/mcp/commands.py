"""The command of MCP."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class McpCommand(LazyCommand, frozen=True):
    """Offer an assistant to an MCP client, over stdio."""

    place: ClassVar[str] = "prolocutor.plugins.mcp.command:mcp"
