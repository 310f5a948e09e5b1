"""The unit converter: converts a quantity or compares two."""

from prolocutor_demo.units.units_agent import answer

__all__ = ["answer"]
