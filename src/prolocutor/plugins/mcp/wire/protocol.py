"""Versions, headers, numbers and reserved keys of MCP.

Source: https://modelcontextprotocol.io/specification. Versions up to 2025-11-25 begin with a
handshake (`initialize`). From 2026-07-28 on every request carries its version and the client's
capabilities, and `server/discover` takes the place of the handshake.
"""

from __future__ import annotations

from typing import Final

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS: Final = ("2026-07-28",)
VERSIONS: Final = (*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS)
"""All released versions, oldest first."""

HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"
"""Reserved keys of `_meta`."""

SESSION_HEADER: Final = "mcp-session-id"
VERSION_HEADER: Final = "mcp-protocol-version"
METHOD_HEADER: Final = "mcp-method"
NAME_HEADER: Final = "mcp-name"

NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that `Mcp-Name` repeats, by method."""


def is_stateless(version: str) -> bool:
    """Return whether requests of a version are independent of a session."""
    return version in STATELESS_VERSIONS
