"""The clock: gives the time, the date and the weekday, here and in other places."""

from prolocutor_demo.clock.clock_agent import answer as english
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

answer = in_language(english)
