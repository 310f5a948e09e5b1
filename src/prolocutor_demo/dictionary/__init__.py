"""The dictionary: explains English words and finds their synonyms and antonyms."""

from prolocutor_demo.dictionary.dictionary_agent import answer as english
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

answer = in_language(english)
