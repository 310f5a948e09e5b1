"""The day counter: counts days and ages, and finds dates."""

from prolocutor_demo.days.days_agent import answer

__all__ = ["answer"]
