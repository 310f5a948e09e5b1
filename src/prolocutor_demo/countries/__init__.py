"""The atlas: capitals, population, currencies, languages and neighbours of countries."""

import re

from prolocutor_demo.countries.countries_agent import answer as english
from prolocutor_demo.reading.asking import Lack
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

LACKS = (
    Lack(
        "Of which country?",
        "I need the name of a country, for example: Peru.",
        re.compile(
            r".*\b(?:capital(?: city)?|population|currency|area|languages?|neighbou?rs|continent"
            r"|people live|live|spoken|borders?)(?: of| in| for)?",
            re.IGNORECASE,
        ),
        ["Peru"],
        "of ",
    ),
)

answer = in_language(english, lacks=LACKS)
