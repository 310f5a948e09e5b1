"""Careful answers: words of danger are noticed, and get a fixed answer with numbers to call."""
