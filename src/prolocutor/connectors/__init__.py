"""Connectors: one file is one way to reach a service."""
