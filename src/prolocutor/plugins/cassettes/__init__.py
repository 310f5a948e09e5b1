"""Conversations as tests: every call recorded, replayed without agents, and judged."""
