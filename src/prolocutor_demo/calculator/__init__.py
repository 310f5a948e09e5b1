"""The calculator: reads arithmetic, in signs or in words, and calculates it."""

from prolocutor_demo.calculator.calculator_agent import answer as english
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

answer = in_language(english)
