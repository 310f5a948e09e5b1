"""Rasa: bots behind its REST channel as services."""
