r"""Reads what steers a dialog instead of commanding anything: the bookkeeping of ThingTalk.

Both generations are understood: `bookkeeping special special:yes` and `$yes ;` as tokens,
`bookkeeping(yes);` and `$yes;` as source, `\r bookkeeping special special:yes` as typed text.
Sources: the Almond Dialog API, thingtalk 1.x and 2.x. All errors are `BadInput`.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias, cast, get_args

import msgspec

from prolocutor.asks.intent_tokens import Tokens
from prolocutor.dialog.rounds import Ask
from prolocutor.errors import BadInput

Special: TypeAlias = Literal[
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
Name: TypeAlias = Special | Literal["choice", "answer", "category", "commands", "filter"]

_SPECIALS: Final = frozenset(get_args(Special))
_CALLS: Final = frozenset({"choice", "answer", "category", "commands", "filter", "special"})
_LONGEST: Final = 2_000
_FORMS: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|\^\^[\w.:-]+|[$@]?[A-Za-z_][\w:]*|[+-]?\d[\w.$+]*|==|[<>=~!]=?~?|\S'
)
_GLUED: Final = re.compile(r'"[^"\s][^"]*"|\S+')


class Intent(msgspec.Struct, frozen=True):
    """What a piece of bookkeeping means.

    `value` is the idx of a `choice` (from 0), the value of an `answer` in the form that skills are
    given answers in (a date of which parts are missing is the object of its parts), the name of a
    `category`, `{category, device}` of `commands`, `{param, type, op, value, negated}` of a
    `filter`. `kind` is the ask that an answer's value answers.
    """

    name: Name
    value: Any = None
    kind: Ask | None = None


def intent_of(code: list[Any], entities: dict[str, Any]) -> Intent | None:
    """Read tokens of bookkeeping; None where they are a program. `BadInput` names a bad token."""
    if not code or not isinstance(code[0], str):
        return None
    if code[0] == "bookkeeping":
        tokens = Tokens(code, entities)
        tokens.take("bookkeeping")
        opened = tokens.skip("(")
        intent = _intent(tokens, opened)
        if opened and not tokens.skip(")"):
            raise BadInput("the code ends where ) is expected", field="code")
    elif code[0].startswith("$") and _special(code[0][1:]) in _SPECIALS | {"choice", "answer"}:
        if "=>" in code:
            return None
        tokens = Tokens([code[0][1:], *code[1:]], entities)
        intent = _intent(tokens, True)
    else:
        return None
    while tokens.skip(";"):
        pass
    tokens.end()
    return intent


def intent_of_program(source: str) -> Intent | None:
    """Read a source that is bookkeeping, `bookkeeping(choice(1));` or `$yes;`; None for others."""
    source = source.strip()
    if not source.startswith(("bookkeeping", "$")) or len(source) > 10 * _LONGEST:
        return None
    return intent_of(_FORMS.findall(source), {})


def intent_in(parsed: dict[str, Any]) -> Intent | None:
    """Read what `read_parsed` gave; None where it is a program."""
    if "program" in parsed:
        return intent_of_program(parsed["program"])
    return intent_of(parsed["code"], parsed["entities"])


def read_parsed(given: Any) -> dict[str, Any]:
    """Read a parsed command: an object or its JSON, bare or in the message that carries it.

    The result has `code` (list of tokens) and `entities`, or `program`, and what else came
    along. A message of type `parsed` may carry its command in `json` or itself; one of type `tt`
    has its source in `code` or `tt`.
    """
    command = object_of(given)
    if command.get("type") == "tt":
        return {"program": _program(command.get("code", command.get("tt")))}
    if command.get("json") is not None and "code" not in command:
        command = object_of(command["json"])
    _check_parts(command)
    if command.get("program") is not None:
        return {**command, "program": _program(command["program"])}
    code = command.get("code")
    code = code.split() if isinstance(code, str) else code
    if not isinstance(code, list) or not code:
        raise BadInput("a parsed command needs code, a list of tokens, or a program", field="json")
    if len(code) > _LONGEST:
        raise BadInput(f"code has more than {_LONGEST} tokens", field="code")
    for position, token in enumerate(code):
        if not isinstance(token, str | int | float):
            raise BadInput(f"code[{position}]: expected a token, not {token!r:.80}", field="code")
    return {**command, "code": code, "entities": command.get("entities") or {}}


def object_of(given: Any) -> dict[str, Any]:
    """Return the object that came, bare or as JSON; `BadInput` where there is none."""
    for _ in range(3):
        if not isinstance(given, str | bytes):
            break
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise BadInput(f"the parsed command is no JSON: {error}", field="json") from None
    if not isinstance(given, dict):
        raise BadInput(f"a parsed command is an object, not {given!r:.80}", field="json")
    return given


def read_prefixed(text: str) -> dict[str, Any] | None:
    r"""Read `\r {json}`, `\r` and tokens, or `\t` and a program; None where a text is words."""
    if text.startswith("\\t "):
        return {"program": _program(text[3:])}
    if not text.startswith("\\r "):
        return None
    rest = text[3:].strip()
    if rest.startswith(("{", '"{')):
        return read_parsed(rest)
    return read_parsed({"code": _split(rest), "entities": {}})


def _intent(tokens: Tokens, parentheses: bool) -> Intent:
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
    return Intent(cast(Special, name))


def _call(name: str, tokens: Tokens) -> Intent:
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


def _filter(tokens: Tokens) -> Intent:
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


def _check_parts(command: dict[str, Any]) -> None:
    for key, (kind, what) in _PARTS.items():
        value = command.get(key)
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise BadInput(f"{key} should be {what}, not {value!r:.80}", field=key)
    if not all(isinstance(name, str) for name in command.get("slots") or ()):
        raise BadInput("slots are names, each a text", field="slots")


def _program(source: Any) -> str:
    if not isinstance(source, str) or not source.strip():
        raise BadInput("a program is a text in ThingTalk", field="code")
    return source


def _split(text: str) -> list[str]:
    """Split tokens at blanks; a text whose quotes stick to its words has them parted."""
    tokens: list[str] = []
    for token in _GLUED.findall(text):
        quoted = len(token) > 2 and token[0] == token[-1] == '"'
        tokens.extend(['"', *token[1:-1].split(), '"'] if quoted else [token])
    return tokens


_PARTS: Final[dict[str, tuple[type, str]]] = {
    "entities": (dict, "an object"),
    "example_id": (int, "a whole number"),
    "slots": (list, "a list of names"),
    "slotTypes": (dict, "an object"),
}
