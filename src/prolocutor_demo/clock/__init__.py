"""The clock: gives the time, the date and the weekday, here and in other places."""

from prolocutor_demo.clock.clock_agent import answer

__all__ = ["answer"]
