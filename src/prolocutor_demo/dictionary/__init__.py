"""The dictionary: explains English words, and finds words like or unlike them."""

from prolocutor_demo.dictionary.dictionary_agent import answer

__all__ = ["answer"]
