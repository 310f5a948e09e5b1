"""Stores: SQLite, PostgreSQL and in memory, behind `contracts/store`."""
