"""Measuring routers, rankers and budgets on questions whose right agents are known."""
