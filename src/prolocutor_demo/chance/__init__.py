"""The chance agent: flips coins, rolls dice, picks numbers and things."""

from prolocutor_demo.chance.chance_agent import answer as english
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

answer = in_language(english)
