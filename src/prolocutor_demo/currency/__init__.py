"""The money changer: converts currencies at the European Central Bank's rates."""

from prolocutor_demo.currency.currency_agent import answer as english
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

answer = in_language(english)
