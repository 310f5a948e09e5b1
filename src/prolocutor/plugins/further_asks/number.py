"""Reads numbers: digits, grouped in any way, and words ("minus three point five", "a dozen")."""

from __future__ import annotations

from typing import Any, ClassVar

from prolocutor.asks.answers import (
    AnswerContext,
    AskOptions,
    NotUnderstood,
    Outcome,
    Understood,
    extra_hint,
)
from prolocutor.dialog.plain import JsonObject
from prolocutor.reading import libraries, numbers
from prolocutor.reading.plain_text import bare


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a number: an int where it is whole and exact, else a float."""
    bare_text = bare(text)
    value = numbers.read_foreign_number(bare_text, context.language) if context.language else None
    if value is None:
        value = numbers.read_number(bare_text)
    if value is None:
        value = numbers.read_foreign_number(bare_text, None)
    if value is not None:
        return Understood(value)
    in_words = bare_text and not any(sign.isdigit() for sign in bare_text)
    if in_words and libraries.text_to_num() is None:
        return NotUnderstood(f"{Number.hint} {extra_hint('Numbers in words', 'digits')}")
    return NotUnderstood(Number.hint)


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed number."""
    if type_name == "number" and (number := numbers.exact(value)) is not None:
        return Understood(number)
    return NotUnderstood(Number.hint)


class Number(AskOptions, frozen=True):
    """A number."""

    hint: ClassVar[str] = "I'm looking for a number."
    schema: ClassVar[JsonObject] = {"type": "number"}
    is_found_among: ClassVar[bool] = True
    is_telling: ClassVar[bool] = True
    read, take = staticmethod(read), staticmethod(take)
