"""Reads the answers to asks: what people type (a file per kind of ask) and what buttons carry."""
