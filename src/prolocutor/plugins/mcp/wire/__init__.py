"""The messages of MCP, for connector and door."""
