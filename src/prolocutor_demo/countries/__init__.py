"""The atlas: knows capitals, people, money, languages and neighbours."""

from prolocutor_demo.countries.countries_agent import answer

__all__ = ["answer"]
