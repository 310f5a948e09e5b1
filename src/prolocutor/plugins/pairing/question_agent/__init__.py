"""Routers: which agent to ask, from the question alone."""
