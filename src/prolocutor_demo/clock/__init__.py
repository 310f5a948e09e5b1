"""The clock: gives the time, the date and the weekday, here and in other places."""

import re

from prolocutor_demo.clock.clock_agent import answer as english
from prolocutor_demo.reading.asking import Lack
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

LACKS = (
    Lack(
        "In which place?",
        "I need the name of a city or a country, for example: Tokyo.",
        re.compile(r"(?:.{0,60} )??(?:time|date|day) (?:.{0,60} )??(?:in|at|of)", re.IGNORECASE),
        ["Tokyo"],
    ),
)

answer = in_language(english, lacks=LACKS)
