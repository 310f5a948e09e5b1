"""The atlas: capitals, population, currencies, languages and neighbours of countries."""

from prolocutor_demo.countries.countries_agent import answer as english
from prolocutor_demo.reading.languages.speaking import in_language

__all__ = ["answer"]

answer = in_language(english)
