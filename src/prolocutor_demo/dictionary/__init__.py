"""The dictionary: explains English words and finds their synonyms and antonyms."""

import re

from prolocutor_demo.dictionary.dictionary_agent import answer as english
from prolocutor_demo.reading.asking import Lack
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

LACKS = (
    Lack(
        "Which word?",
        "I need an English word, for example: happy.",
        re.compile(
            r"(?:define|spell|explain)(?: (?:the word|something|a word|it))?"
            r"|.*\b(?:mean(?:ing|s)?|definition|synonyms?|antonyms?|opposite)(?: of| for)?",
            re.IGNORECASE,
        ),
        ["happy"],
        "of ",
    ),
)

answer = in_language(english, lacks=LACKS)
