"""The atlas: capitals, population, currencies, languages and neighbours of countries."""

from prolocutor_demo.countries.countries_agent import answer

__all__ = ["answer"]
