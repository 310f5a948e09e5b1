"""The money changer: converts currencies at the European Central Bank's rates."""

from prolocutor_demo.currency.currency_agent import answer

__all__ = ["answer"]
