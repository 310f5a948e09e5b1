"""Intents: control commands and answers, which clients send as bookkeeping of ThingTalk.

Both generations are understood: `bookkeeping special special:yes` and `$yes ;` as tokens,
`bookkeeping(yes);` and `$yes;` as source. Sources: the Almond Dialog API, thingtalk 1.x and 2.x.
All errors are `BadInput`.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias, cast, get_args

import msgspec

from prolocutor.asks.intent_tokens import IntentTokens
from prolocutor.dialog.rounds import Ask
from prolocutor.errors import BadInput

ControlName: TypeAlias = Literal[
    "yes",
    "no",
    "nevermind",
    "stop",
    "help",
    "wakeup",
    "debug",
    "failed",
    "train",
    "back",
    "more",
    "empty",
    "maybe",
    "makerule",
    "hello",
]
IntentName: TypeAlias = ControlName | Literal["choice", "answer", "category", "commands", "filter"]

_SPECIALS: Final = frozenset(get_args(ControlName))
_CALLS: Final = frozenset({"choice", "answer", "category", "commands", "filter", "special"})
_MAX_SOURCE: Final = 20_000
_FORMS: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|\^\^[\w.:-]+|[$@]?[A-Za-z_][\w:]*|[+-]?\d[\w.$+]*|==|[<>=~!]=?~?|\S'
)


class Intent(msgspec.Struct, frozen=True):
    """The meaning of one piece of bookkeeping.

    `value` is the idx of a `choice` (from 0), the value of an `answer` in the form that skills get
    (an incomplete date is the object of its parts), the name of a `category`, `{category, device}`
    of `commands`, `{param, type, op, value, negated}` of a `filter`.
    `kind` is the kind of ask that the value of an answer fits.
    """

    name: IntentName
    value: Any = None
    kind: Ask | None = None


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
    elif code[0].startswith("$") and _special(code[0][1:]) in _SPECIALS | {"choice", "answer"}:
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
    if not source.startswith(("bookkeeping", "$")) or len(source) > _MAX_SOURCE:
        return None
    return intent_of_tokens(_FORMS.findall(source), {})


def intent_of(parsed: dict[str, Any]) -> Intent | None:
    """Read the intent of a parsed command (`read_parsed`); None if it is a program."""
    if "program" in parsed:
        return intent_of_source(parsed["program"])
    return intent_of_tokens(parsed["code"], parsed["entities"])


def _intent(tokens: IntentTokens, parentheses: bool) -> Intent:
    name = _special(tokens.word("what the bookkeeping is about"))
    if name == "special":
        name = _special(tokens.word("special: and a name"))
    elif name in _CALLS:
        opened = parentheses and tokens.skip("(")
        intent = _call(name, tokens)
        if opened and not tokens.skip(")"):
            raise tokens.refusal(tokens.look(), ")")
        return intent
    if name not in _SPECIALS:
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


def _special(name: str) -> str:
    name = name.removeprefix("special:")
    return "nevermind" if name == "cancel" else name
