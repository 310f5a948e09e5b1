"""Readers that several agents share: requests, wording, numbers, dates, countries."""
