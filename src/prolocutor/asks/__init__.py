"""Reads answers to asks: typed text (a file for each kind of ask) and what buttons carry."""
