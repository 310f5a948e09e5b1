"""Rankers: whose answer is best, from the question and the answers."""
