"""Processes: services that run beside the assistant, started, watched and ended by it."""
