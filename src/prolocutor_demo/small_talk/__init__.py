"""The small talk agent: chats, and resumes scripted sub-dialogs."""

from prolocutor_demo.small_talk.small_talk_agent import answer

__all__ = ["answer"]
