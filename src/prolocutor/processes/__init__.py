"""Processes: services run beside the assistant, which starts, watches and ends them."""
