"""The unit converter: says a quantity in another unit, or compares two."""

from prolocutor.services.demo.units.agent import answer

__all__ = ["answer"]
