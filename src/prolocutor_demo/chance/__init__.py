"""The chance agent: flips coins, rolls dice, picks numbers and things."""

from prolocutor_demo.chance.agent import answer

__all__ = ["answer"]
