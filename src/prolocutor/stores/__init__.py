"""Stores: SQLite and in memory, behind `contracts/store`."""
