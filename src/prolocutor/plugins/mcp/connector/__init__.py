"""The connector to a tool of an MCP server, over streamable HTTP or stdio."""
