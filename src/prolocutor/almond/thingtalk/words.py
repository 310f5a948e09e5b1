"""Tokens of ThingTalk as the grammars see them."""

from __future__ import annotations

from typing import Any

from lark import Token

from prolocutor.almond.thingtalk.nodes import SourcePosition


def position_of(token: Token) -> SourcePosition:
    """Return the place at which a token begins."""
    return SourcePosition(token.line or 0, token.column or 0)


def made(kind: str, value: Any, place: SourcePosition, text: str | None = None) -> Token:
    """Make a token of a kind; `text` is what an error quotes."""
    token = Token(kind, text if text is not None else str(value), None, place.line, place.column)
    token.value = value
    return token
