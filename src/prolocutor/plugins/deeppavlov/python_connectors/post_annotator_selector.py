"""The selector of response annotators: all without an annotation on the last reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class PostAnnotatorSelector:
    """Names the annotators missing from the last bot utterance; sees the dialog."""

    def __init__(self, annotator_names: Sequence[str]) -> None:
        self._names = list(annotator_names)

    def __call__(self, task: Any) -> Any:
        """Return the names; empty in a dialog's first turn, which leaves no annotator out."""
        said = task["bot_utterances"]
        return [name for name in self._names if name not in said[-1]["annotations"]] if said else []
