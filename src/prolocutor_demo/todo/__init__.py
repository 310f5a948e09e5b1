"""The todo agent: keeps lists of things to do, and reminders apart from them."""

from prolocutor_demo.reading.languages.speaking import in_language
from prolocutor_demo.todo.todo_agent import answer as english

__all__ = ["answer"]

answer = in_language(english)
