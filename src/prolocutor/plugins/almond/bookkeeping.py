"""Bookkeeping: control commands and answers in ThingTalk, as Almond's clients send them.

Both generations are understood: `bookkeeping special special:yes` and `$yes ;` as tokens,
`bookkeeping(yes);` and `$yes;` as source. Sources: the Almond Dialog API, thingtalk 1.x and 2.x.
All errors are `BadInput`. The module is a `CommandLanguage`.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from prolocutor.asks.intents import CONTROLS, ControlName, Intent, control_name, read_parsed
from prolocutor.errors import BadInput
from prolocutor.plugins.almond.bookkeeping_tokens import IntentTokens

_CALLS: Final = frozenset({"choice", "answer", "category", "commands", "filter", "special"})
MAX_SOURCE: Final = 20_000
_FORMS: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|\^\^[\w.:-]+|[$@]?[A-Za-z_][\w:]*|[+-]?\d[\w.$+]*|==|[<>=~!]=?~?|\S'
)
_GLUED: Final = re.compile(r'"[^"\s][^"]*"|\S+')


def read(parsed: dict[str, Any]) -> Intent | None:
    """Read the intent of a command (`read_parsed`); None if it is a program."""
    if "program" in parsed:
        return intent_of_source(parsed["program"])
    return intent_of_tokens(parsed["code"], parsed["entities"])


def read_typed(text: str) -> dict[str, Any] | None:
    r"""Read `\r {json}`, `\r` and tokens, or `\t` and a program; None for plain words."""
    if text.startswith("\\t "):
        return read_parsed({"program": text[3:]})
    if not text.startswith("\\r "):
        return None
    rest = text[3:].strip()
    if rest.startswith(("{", '"{')):
        return read_parsed(rest)
    return read_parsed({"code": _split(rest), "entities": {}})


def intent_of_tokens(code: list[Any], entities: dict[str, Any]) -> Intent | None:
    """Read tokens of bookkeeping; None if they are a program. `BadInput` names a bad token."""
    if not code or not isinstance(code[0], str):
        return None
    if code[0] == "bookkeeping":
        tokens = IntentTokens(code, entities)
        tokens.take("bookkeeping")
        opened = tokens.skip("(")
        intent = _intent(tokens, opened)
        if opened and not tokens.skip(")"):
            raise BadInput("the code ends where ) is expected", field="code")
    elif code[0].startswith("$") and control_name(code[0][1:]) in CONTROLS | {"choice", "answer"}:
        if "=>" in code:
            return None
        tokens = IntentTokens([code[0][1:], *code[1:]], entities)
        intent = _intent(tokens, True)
    else:
        return None
    while tokens.skip(";"):
        pass
    tokens.end()
    return intent


def intent_of_source(source: str) -> Intent | None:
    """Read the source of bookkeeping, `bookkeeping(choice(1));` or `$yes;`; None for a program."""
    source = source.strip()
    if not source.startswith(("bookkeeping", "$")) or len(source) > MAX_SOURCE:
        return None
    return intent_of_tokens(_FORMS.findall(source), {})


def _intent(tokens: IntentTokens, parentheses: bool) -> Intent:
    name = control_name(tokens.word("what the bookkeeping is about"))
    if name == "special":
        name = control_name(tokens.word("special: and a name"))
    elif name in _CALLS:
        opened = parentheses and tokens.skip("(")
        intent = _call(name, tokens)
        if opened and not tokens.skip(")"):
            raise tokens.refusal(tokens.look(), ")")
        return intent
    if name not in CONTROLS:
        raise tokens.refusal(name, "the name of a bookkeeping intent")
    return Intent(cast(ControlName, name))


def _call(name: str, tokens: IntentTokens) -> Intent:
    if name == "choice":
        return Intent("choice", tokens.whole(), "choice")
    if name == "answer":
        answer = tokens.answer()
        return Intent("answer", answer.value, answer.kind)
    if name == "category":
        return Intent("category", tokens.word("a category"))
    if name == "commands":
        category = tokens.word("a category")
        tokens.skip(",")
        return Intent(
            "commands", {"category": category, "device": tokens.word("a device", "device:")}
        )
    return _filter(tokens)


def _filter(tokens: IntentTokens) -> Intent:
    negated = tokens.skip("not", "!")
    param, _, type_name = tokens.word("param:name:Type", "param:").partition(":")
    operator = tokens.word("an operator")
    value = tokens.answer()
    return Intent(
        "filter",
        {
            "param": param,
            "type": type_name,
            "op": operator,
            "value": value.value,
            "negated": negated,
        },
        value.kind,
    )


def _split(text: str) -> list[str]:
    """Split tokens at blanks, and quotation marks off the words that they touch."""
    tokens: list[str] = []
    for token in _GLUED.findall(text):
        quoted = len(token) > 2 and token[0] == token[-1] == '"'
        tokens.extend(['"', *token[1:-1].split(), '"'] if quoted else [token])
    return tokens
