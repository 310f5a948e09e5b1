"""The way to an A2A agent as a service."""
