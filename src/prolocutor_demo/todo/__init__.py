"""The todo agent: keeps lists of things to do, and reminders apart from them."""

from prolocutor_demo.todo.agent import answer

__all__ = ["answer"]
