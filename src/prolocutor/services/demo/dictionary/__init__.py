"""The dictionary: explains English words, and finds words like or unlike them."""

from prolocutor.services.demo.dictionary.agent import answer

__all__ = ["answer"]
