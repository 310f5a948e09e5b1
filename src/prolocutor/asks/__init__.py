"""Answers of people, understood by what they were asked for: one file per kind of ask."""
