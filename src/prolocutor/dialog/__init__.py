"""Nouns: plain data about people, what they said, and what the assistant said."""
