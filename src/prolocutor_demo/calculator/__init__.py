"""The calculator: reads arithmetic, in signs or in words, and calculates it."""

import re

from prolocutor_demo.calculator.calculator_agent import answer as english
from prolocutor_demo.reading.asking import Lack
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

LACKS = (
    Lack(
        "What shall I calculate?",
        "I need a sum, for example: 12 times 7.",
        re.compile(
            r"(?:calculate|compute|solve|work out|add up|do (?:a|the|some) (?:sums?|maths?))"
            r"(?: (?:something|this|that|it|a sum))?",
            re.IGNORECASE,
        ),
        ["2 + 2"],
    ),
)

answer = in_language(english, lacks=LACKS)
