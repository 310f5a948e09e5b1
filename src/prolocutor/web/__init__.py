"""The one listener: an ASGI app made of doors, with keys, limits and one table of errors."""
