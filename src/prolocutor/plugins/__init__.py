"""Plug-ins: each registers itself by entry points and can be deleted with its folder."""
