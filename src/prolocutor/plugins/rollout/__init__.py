"""Rollouts: logs measure the gain of new agents, routers and rankers, and stop harmful trials."""
