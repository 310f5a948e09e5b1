"""Observers of turns: metrics, logs, spans, and the last records for whoever inspects."""
