"""Rollouts: what new agents, routers and rankers gain, by logs, and stopping them on harm."""
