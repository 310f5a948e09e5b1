"""Tools to write an assistant: its file, the recognition of addresses, reference tables."""
