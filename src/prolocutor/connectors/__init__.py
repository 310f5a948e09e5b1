"""Connectors: each file is a way to reach a service."""
