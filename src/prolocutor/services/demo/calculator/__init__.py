"""The calculator: reads arithmetic, in signs or in words, and calculates it."""

from prolocutor.services.demo.calculator.agent import answer

__all__ = ["answer"]
