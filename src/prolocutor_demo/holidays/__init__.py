"""The holiday calendar: knows public holidays all over the world."""

from prolocutor_demo.holidays.holidays_agent import answer

__all__ = ["answer"]
