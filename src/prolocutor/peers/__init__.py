"""Connectors to programs, sockets and other assistants."""
