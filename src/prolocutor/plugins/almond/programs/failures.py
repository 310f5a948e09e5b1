"""Failures: why a statement of a program could not be run."""

from __future__ import annotations


class ProgramFailure(Exception):
    """A statement cannot be run; `app` is the failed skill, "" the program itself."""

    def __init__(self, app: str, what: str) -> None:
        self.app, self.what = app, what.rstrip(". ")
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """The sentence for the person."""
        if not self.app:
            return f"Sorry, that did not work: {self.what}."
        return f"{self.app} had an error: {self.what}."


class MissingField(ProgramFailure):
    """A result lacks a field that the next call of the chain needs; other results may have it."""

    def __init__(self, name: str) -> None:
        super().__init__("", f"there was a result without a value for {name}")
