"""Signing in at MCP servers by OAuth 2.1, for people and for the assistant itself."""
