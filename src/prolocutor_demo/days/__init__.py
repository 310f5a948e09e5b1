"""The day counter: counts days and ages, and finds dates."""

from prolocutor_demo.days.days_agent import answer as english
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

answer = in_language(english)
