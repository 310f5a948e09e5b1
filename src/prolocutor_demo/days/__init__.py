"""The day counter: counts days and ages, and finds dates."""

from prolocutor_demo.days.agent import answer

__all__ = ["answer"]
