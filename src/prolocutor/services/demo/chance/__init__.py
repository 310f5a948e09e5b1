"""The chance agent: flips coins, rolls dice, picks numbers and things."""

from prolocutor.services.demo.chance.agent import answer

__all__ = ["answer"]
