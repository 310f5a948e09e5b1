"""Built-in services: plain functions that any pipeline may name."""
