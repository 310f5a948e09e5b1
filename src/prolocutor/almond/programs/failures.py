"""Trouble: why a statement of a program could not be done."""

from __future__ import annotations


class ProgramFailure(Exception):
    """A statement cannot be done: `app` is who had the trouble ("": the program itself)."""

    def __init__(self, app: str, what: str) -> None:
        self.app, self.what = app, what.rstrip(". ")
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """What the person is told."""
        if not self.app:
            return f"Sorry, that did not work: {self.what}."
        return f"{self.app} had an error: {self.what}."


class MissingField(ProgramFailure):
    """One result does not say what the next call of the chain needs; the others may."""

    def __init__(self, name: str) -> None:
        super().__init__("", f"there was a result without a value for {name}")
