"""The chance agent: flips coins, rolls dice, picks numbers and things."""

from prolocutor_demo.chance.chance_agent import answer

__all__ = ["answer"]
