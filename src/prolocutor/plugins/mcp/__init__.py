"""MCP, the Model Context Protocol, both ways: its tools as services, an assistant as a tool."""
