"""Hints: weak labels from what people do after a reply."""
