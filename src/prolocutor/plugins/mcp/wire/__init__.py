"""The messages of MCP, as both ends need them."""
