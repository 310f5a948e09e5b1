"""The unit converter: converts a quantity or compares two."""

from prolocutor_demo.reading.languages.speaking import in_language
from prolocutor_demo.units.units_agent import answer as english

__all__ = ["answer"]

answer = in_language(english)
