"""Rounds: the meaning of an input while an ask is open, and the asks of replies."""
