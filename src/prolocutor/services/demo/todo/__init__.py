"""The todo agent: keeps lists of things to do, and reminders apart from them."""

from prolocutor.services.demo.todo.agent import answer

__all__ = ["answer"]
