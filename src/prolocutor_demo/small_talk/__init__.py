"""The small talk agent: chats, and resumes scripted sub-dialogs."""

from prolocutor_demo.reading.languages.speaking import in_language
from prolocutor_demo.small_talk.small_talk_agent import answer as english

__all__ = ["answer"]

answer = in_language(english)
