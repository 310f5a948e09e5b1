"""Follow-ups: the meaning of words that need the turn before."""

from prolocutor.plugins.language.follow_up.annotator import annotate

__all__ = ["annotate"]
