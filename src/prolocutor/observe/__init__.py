"""Observers of turns: metrics, logs, spans, mean times, and the records of the last turns."""
