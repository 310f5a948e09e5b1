"""The day counter: counts days and ages, and finds dates."""

import re

from prolocutor_demo.days.days_agent import answer as english
from prolocutor_demo.reading.asking import Lack
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

LACKS = (
    Lack(
        "Which day do you mean?",
        "I need a day, for example: Christmas.",
        re.compile(
            r"(?:how (?:many|long)|count)\b.* (?:until|till|to|since|before)", re.IGNORECASE
        ),
        ["christmas"],
    ),
)

answer = in_language(english, lacks=LACKS)
