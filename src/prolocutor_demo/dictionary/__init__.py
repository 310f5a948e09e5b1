"""The dictionary: explains English words and finds their synonyms and antonyms."""

from prolocutor_demo.dictionary.dictionary_agent import answer

__all__ = ["answer"]
