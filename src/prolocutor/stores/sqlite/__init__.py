"""The SQLite store; `sqlite_store.py` has its face."""
