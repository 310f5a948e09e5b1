"""The calculator: reads arithmetic, in signs or in words, and calculates it."""

from prolocutor_demo.calculator.agent import answer

__all__ = ["answer"]
