"""Stores are migrated, checked and copied; persons are exported, imported and moved."""
