"""Takes answers as they are: any text, a password, a command."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.asks.answers import AnswerContext, NotUnderstood, Outcome, Understood
from prolocutor.asks.hints import hint_for
from prolocutor.dialog.rounds import Ask


class Verbatim(msgspec.Struct, frozen=True):
    """Takes any text that is not blank, with the blanks around it.

    `types` are the accepted types of parsed values, None for all. `stripped` removes the blanks
    around a text. `texts_only` refuses parsed values that are no text.
    """

    kind: Ask
    types: frozenset[str] | None = None
    stripped: bool = False
    texts_only: bool = True

    def read(self, text: str, context: AnswerContext) -> Outcome:
        """Take a text as it is, also "cancel", unless it is blank."""
        if not text.strip():
            return NotUnderstood(hint_for(self.kind))
        return Understood(text.strip() if self.stripped else text)

    def take(self, type_name: str, value: Any, context: AnswerContext) -> Outcome:
        """Take a parsed value: a text, or for a command also a program."""
        if self.types is not None and type_name not in self.types:
            return NotUnderstood(hint_for(self.kind))
        if isinstance(value, str):
            return self.read(value, context)
        return NotUnderstood(hint_for(self.kind)) if self.texts_only else Understood(value)


RAW_STRING: Final = Verbatim("raw_string")
PASSWORD: Final = Verbatim("password", types=frozenset({"password", "raw_string"}))
COMMAND: Final = Verbatim("command", stripped=True, texts_only=False)
