"""StrippedWords: hands words on as they come, but for white space at the beginning and the end."""

from __future__ import annotations

from prolocutor.contracts.connector import DeltaSink


class StrippedWords:
    """A `DeltaSink` before a `DeltaSink`, for replies whose text is stripped in the end."""

    def __init__(self, sink: DeltaSink) -> None:
        self._sink = sink
        self._space = ""
        self._has_begun = False

    def add(self, text: str, confidence: float | None = None) -> None:
        """Hand words on, and white space once other words follow it."""
        if not self._has_begun:
            text = text.lstrip()
            self._has_begun = bool(text)
        words = text.rstrip()
        if words:
            self._sink.add(self._space + words, confidence)
            self._space = text[len(words) :]
        else:
            self._space += text

    def restart(self) -> None:
        """Take back all words so far."""
        self._space, self._has_begun = "", False
        self._sink.restart()
