"""Declines that relate to the question: a skill for where no other has an answer."""

from prolocutor.plugins.language.declining.declines import answer as answer
