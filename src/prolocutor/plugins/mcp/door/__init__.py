"""The door that offers an assistant as tools of an MCP server."""
