"""The timer agent: sets timers and alarms, and says how long is left."""

from prolocutor_demo.timer.timer_agent import answer

__all__ = ["answer"]
