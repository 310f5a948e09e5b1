"""Takes answers as they are: any text, a password, a command."""

from __future__ import annotations

from typing import Any, ClassVar

from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood


class RawString(AskOptions, frozen=True):
    """Any non-blank text, with the blanks around it.

    `types` are the accepted types of parsed values, None for all.
    """

    hint: ClassVar[str] = "Any text will do."
    is_raw: ClassVar[bool] = True
    types: ClassVar[frozenset[str] | None] = None

    def read(self, text: str, context: AnswerContext) -> Outcome:
        """Take a text as it is, also "cancel", unless it is blank."""
        return Understood(text) if text.strip() else NotUnderstood(self.hint)

    def take(self, type_name: str, value: Any, context: AnswerContext) -> Outcome:
        """Take a parsed text."""
        if isinstance(value, str) and (self.types is None or type_name in self.types):
            return self.read(value, context)
        return NotUnderstood(self.hint)


class Password(RawString, frozen=True):
    """A password, shown to nobody but the asking skill."""

    hint: ClassVar[str] = "I'm looking for a password."
    types: ClassVar[frozenset[str] | None] = frozenset({"password", "raw_string"})


class CommandText(RawString, frozen=True):
    """A text without the blanks around it, or a parsed value, such as a program."""

    hint: ClassVar[str] = "I'm looking for a command."
    is_raw: ClassVar[bool] = False

    def read(self, text: str, context: AnswerContext) -> Outcome:
        """Take a text, unless it is blank."""
        return RawString.read(self, text.strip(), context)

    def take(self, type_name: str, value: Any, context: AnswerContext) -> Outcome:
        """Take a parsed value, whatever it is."""
        return self.read(value, context) if isinstance(value, str) else Understood(value)
