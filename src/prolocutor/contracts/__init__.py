"""Promises: what a plug-in must keep, and what it may rely on. No behaviour lives here."""
