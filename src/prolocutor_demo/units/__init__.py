"""The unit converter: says a quantity in another unit, or compares two."""

from prolocutor_demo.units.units_agent import answer

__all__ = ["answer"]
