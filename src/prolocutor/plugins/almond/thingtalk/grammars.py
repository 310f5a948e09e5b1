"""The two grammars of ThingTalk, and parsing with them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

import msgspec
from lark import Lark, Token, UnexpectedToken
from lark.lexer import Lexer, PatternStr

from prolocutor.errors import ThingTalkError
from prolocutor.plugins.almond.thingtalk.building import ProgramBuilder
from prolocutor.plugins.almond.thingtalk.lexer import surface_tokens, token_position
from prolocutor.plugins.almond.thingtalk.nodes import (
    MAX_BYTES,
    SourcePosition,
    check_size,
    check_tree,
    fault,
)
from prolocutor.plugins.almond.thingtalk.old_building import OldProgramBuilder
from prolocutor.plugins.almond.thingtalk.token_lexer import new_tokens, old_tokens
from prolocutor.plugins.almond.thingtalk.tree import Source
from prolocutor.plugins.almond.thingtalk.unsupported import find_unsupported


def read_source(source: str, most: int = MAX_BYTES) -> Source:
    """Read a source in either surface syntax, of at most `most` bytes."""
    check_size(len(source.encode("utf-8", "surrogatepass")), most)
    return grammar().read(source)


def cut(source: str) -> list[Token]:
    """Tokenize a surface source."""
    return list(surface_tokens(source, grammar().words))


def read_tokens(code: Sequence[str], entities: Mapping[str, Any]) -> Source:
    """Read a program in tokens of the new form, else of the old form."""
    check_size(sum(len(str(token)) + 1 for token in code), MAX_BYTES)
    try:
        check_size(len(msgspec.json.encode(entities)), MAX_BYTES)
    except (TypeError, ValueError, RecursionError):
        raise fault("the entities are not JSON", SourcePosition(1, 1)) from None
    new, old = grammar(), old_grammar()
    try:
        return new.read_tokens(lambda: new_tokens(code, entities, new.words))
    except ThingTalkError as first:
        try:
            return old.read_tokens(lambda: old_tokens(code, entities, old.words))
        except ThingTalkError as second:
            old_wins = second.column > first.column or (code and code[-1] != ";")
            raise (second if old_wins else first) from None


class _Ready(Lexer):
    """A lexer for a tokenized source."""

    def __init__(self, lexer_conf: object) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: object = None) -> Iterator[Token]:
        """Return the tokens one by one."""
        return iter(lexer_state)


class Grammar:
    """A grammar, with the token kinds of its keywords and signs."""

    def __init__(self, file: str, builder: ProgramBuilder) -> None:
        text = Path(__file__).with_name(file).read_text("utf-8")
        self.lark = Lark(text, parser="lalr", lexer=_Ready, start="source", transformer=builder)
        self.words: dict[str, str] = {
            str(terminal.pattern.value): terminal.name
            for terminal in self.lark.terminals
            if isinstance(terminal.pattern, PatternStr)
        }
        self._written = {kind: word for word, kind in self.words.items()}

    def read(self, source: str) -> Source:
        """Read a surface source."""
        return self.read_tokens(lambda: surface_tokens(source, self.words))

    def read_tokens(self, cut: Callable[[], Iterator[Token]]) -> Source:
        """Parse the tokens that `cut` returns."""
        tokens = list(cut())
        if not tokens:
            raise fault(
                "the program is empty", SourcePosition(1, 1), "write a statement, such as @a.b();"
            )
        try:
            tree = cast(Source, self.lark.parse(cast(Any, tokens)))
        except UnexpectedToken as error:
            self._explain(error, tokens)
        check_tree(tree)
        return tree

    def _explain(self, error: UnexpectedToken, tokens: list[Token]) -> NoReturn:
        number = next((n for n, each in enumerate(tokens) if each is error.token), len(tokens))
        construct = find_unsupported(tokens, number, self.words)
        if construct is not None:
            raise construct
        wanted = self._expectation_text(error.accepts or error.expected)
        if number == len(tokens):
            last = tokens[-1]
            position = SourcePosition(last.line or 1, (last.column or 1) + len(str(last)))
            raise fault("the program ends too early", position, wanted)
        raise fault(
            f"{_quote_token(error.token)} is not expected here", token_position(error.token), wanted
        )

    def _expectation_text(self, kinds: set[str]) -> str:
        if "STRING" in kinds and "NUMBER" in kinds:
            return "expected a value or a field" if "TRUE" in kinds else "expected a value"
        if "REF" in kinds:
            return "expected a call such as @class.function()"
        named = [_KINDS.get(kind) or f"'{self._written.get(kind, kind)}'" for kind in sorted(kinds)]
        if "';'" in named:
            named = ["';'", *(each for each in ("'=>'", "'filter'") if each in named)]
        if "a name" in named:
            named = ["a name", *(each for each in ("')'", "']'") if each in named)]
        return f"expected {' or '.join(named[:6])}"


_KINDS = {
    "NAME": "a name",
    "REF": "@class.function",
    "STRING": "a string",
    "NUMBER": "a number",
    "ENTITY_KIND": "^^type",
    "SPECIAL": "a control command",
    "CURRENCY_CODE": "a currency",
    "CONSTANT": "a value",
    "$END": "the end",
}


def _quote_token(token: Token) -> str:
    text = str(token)
    return text if text.startswith(('"', "'")) and len(text) < 40 else f"'{text!s:.40}'"


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of both surface syntaxes and of the new tokens, made once."""
    return Grammar("grammar.lark", ProgramBuilder())


@functools.cache
def old_grammar() -> Grammar:
    """Return the grammar of the old tokens, made once."""
    return Grammar("old_tokens.lark", OldProgramBuilder())
