"""Reads answers to asks: typed text (a file for each kind of ask) and the content of buttons."""
