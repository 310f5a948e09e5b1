"""The timer agent: sets timers and alarms, and says how long is left."""

from prolocutor_demo.reading.languages.speaking import in_language
from prolocutor_demo.timer.timer_agent import answer as english

__all__ = ["answer"]

answer = in_language(english)
