"""The calculator: reads arithmetic, in signs or in words, and calculates it."""

from prolocutor_demo.calculator.calculator_agent import answer

__all__ = ["answer"]
