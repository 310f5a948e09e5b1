"""The small talk agent: chats, and resumes scripted sub-dialogs."""

from prolocutor_demo.small_talk.agent import answer

__all__ = ["answer"]
