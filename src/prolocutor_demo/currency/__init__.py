"""The money changer: converts currencies at the European Central Bank's rates."""

from prolocutor_demo.currency.agent import answer

__all__ = ["answer"]
