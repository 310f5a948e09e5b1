"""Follow-ups: what words that do not stand alone mean together with the turn before."""

from prolocutor.plugins.language.follow_up.annotator import annotate

__all__ = ["annotate"]
