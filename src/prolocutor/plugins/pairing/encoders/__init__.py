"""Encoders: texts as vectors, from a local model or from an endpoint."""
