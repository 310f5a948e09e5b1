"""The timer agent: sets timers and alarms, and says how long is left."""

from prolocutor_demo.timer.agent import answer

__all__ = ["answer"]
