"""The selector of response annotators: those that have not annotated the last reply yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class PostAnnotatorSelector:
    """Names the annotators whose annotation the last bot utterance lacks; sees the dialog."""

    def __init__(self, annotator_names: Sequence[str]) -> None:
        self._names = list(annotator_names)

    def __call__(self, task: Any) -> Any:
        """Return the names; none in a dialog's first turn, which leaves nobody out."""
        said = task["bot_utterances"]
        return [name for name in self._names if name not in said[-1]["annotations"]] if said else []
