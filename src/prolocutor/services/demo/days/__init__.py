"""The day counter: counts days and ages, and finds dates."""

from prolocutor.services.demo.days.agent import answer

__all__ = ["answer"]
