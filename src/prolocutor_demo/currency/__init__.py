"""The money changer: converts currencies at the European Central Bank's rates."""

import re

from prolocutor_demo.currency.currency_agent import answer as english
from prolocutor_demo.reading.asking import Lack
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

LACKS = (
    Lack(
        "Into which currency?",
        "I need a currency, for example: yen.",
        re.compile(r"(?:convert|change|exchange|turn) .*\d.*", re.IGNORECASE),
        ["yen"],
        "to ",
    ),
)

answer = in_language(english, lacks=LACKS)
