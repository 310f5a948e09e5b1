"""The todo agent: keeps lists of things to do, and reminders apart from them."""

from prolocutor_demo.todo.todo_agent import answer

__all__ = ["answer"]
