"""Promises: the promises a plug-in keeps and may rely on. No behaviour lives here."""
