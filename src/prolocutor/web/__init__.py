"""The one listener: an ASGI app made of channels, with keys, limits and one error table."""
