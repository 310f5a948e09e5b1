"""Reads times and lengths of time in words, for the agents that need them."""
