"""Messaging: the connection to NATS that connectors, workers and wake-ups share."""
