"""The listener: an ASGI app made of channels, with keys, limits and an error table."""
