"""The unit converter: converts a quantity or compares two."""

import re

from prolocutor_demo.reading.asking import Lack
from prolocutor_demo.reading.languages.speaking import in_language
from prolocutor_demo.units.units_agent import answer as english

__all__ = ["answer"]

LACKS = (
    Lack(
        "What shall I convert, and into what?",
        "I need an amount and a unit, for example: 5 miles to km.",
        re.compile(r"convert(?: (?:something|it|this|that|units?))?", re.IGNORECASE),
        ["5 miles to km"],
    ),
    Lack(
        "Into which unit?",
        "I need a unit, for example: miles.",
        re.compile(r"(?:convert|change|turn|put) .*\d.*", re.IGNORECASE),
        ["miles", "pounds", "fahrenheit", "litres", "acres", "seconds", "km/h", "inches", "grams"],
        "to ",
    ),
)

answer = in_language(english, lacks=LACKS)
