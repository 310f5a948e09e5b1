"""The holiday calendar: knows public holidays all over the world."""

from prolocutor_demo.holidays.agent import answer

__all__ = ["answer"]
