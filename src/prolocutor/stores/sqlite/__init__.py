"""The SQLite store; `store.py` has its face."""
