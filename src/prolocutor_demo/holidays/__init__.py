"""The holiday calendar: knows public holidays all over the world."""

from prolocutor_demo.holidays.holidays_agent import answer as english
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

answer = in_language(english)
