"""Reads numbers, dates, times and units in text. Independent of dialogs and asks."""
