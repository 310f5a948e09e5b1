"""Talks with an assistant in a terminal."""
