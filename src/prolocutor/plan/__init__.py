"""The plan of an assistant: its services, their order, and their requests."""
