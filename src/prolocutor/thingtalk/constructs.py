"""Constructs of ThingTalk that are not taken, and the name by which each is refused."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from lark import Token

from prolocutor.errors import ThingTalkError
from prolocutor.thingtalk.places import fault
from prolocutor.thingtalk.words import place_of

_COMPARISONS = frozenset({"==", ">=", "<=", ">", "<", "=~", "~="})

_BY_WORD: dict[str, tuple[str, str]] = {
    "executor": ("an executor", "programs run for who sends them; leave the executor out"),
    "function": ("a function or macro declaration", "write the statements themselves"),
    "dataset": ("a dataset", "only classes are declared"),
    "$dialogue": ("a dialogue state ($dialogue)", "send a program or a control command"),
    "$policy": ("a permission policy ($policy)", "permissions are not set by programs"),
    "let": ("an assignment (let)", "write the expression where it is used"),
    "join": ("a join", "chain the queries with => instead"),
    "edge": ("an edge", "filter the stream instead"),
    "compute": ("a computation (compute)", "compute in the skill"),
    "oninput": ("an oninput rule", "write a statement that begins with now or monitor"),
    "return": ("a return statement", "end the chain there"),
}

_CALLS: dict[str, tuple[str, str]] = {
    "any": ("a subquery (any(...))", "chain the queries with => instead"),
    "distance": ("a distance computation (distance)", "compute in the skill"),
    "set_time": ("a computation of a time (set_time)", "compute in the skill"),
    "RecurrentTimeSpecification": ("a recurrent time", "use attimer or timer"),
    "ArgMap": ("an argument map (ArgMap)", "leave it out"),
}

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "**"})


def refused(tokens: Sequence[Token], upto: int, words: Container[str]) -> ThingTalkError | None:
    """Name the first construct that is not taken among the tokens, `upto` the fault and its like.

    `upto` is the number of the token at which the grammar gave up, `words` are those that it
    knows, which are therefore not at fault. None where there is no such
    construct: then the program is wrong, not only beyond us.
    """
    if _is_permission_rule(tokens):
        return _refusal("a permission rule", "permissions are not set by programs", tokens[0])
    if tokens[0] == "policy":
        return _refusal("a permission rule", "permissions are not set by programs", tokens[0])
    for number, token in enumerate(tokens[: upto + 3]):
        if str(token) in words and str(token) in _BY_WORD:
            continue
        for find in _FINDERS:
            named = find(tokens, number)
            if named:
                return _refusal(*named, token)
    return None


def _refusal(name: str, do: str, token: Token) -> ThingTalkError:
    return fault(f"{name} is not taken here", place_of(token), do)


def _is_permission_rule(tokens: Sequence[Token]) -> bool:
    if len(tokens) < 2 or (
        tokens[0].type not in ("NAME", "TRUE", "FALSE") and tokens[0] != "$source"
    ):
        return False
    if str(tokens[1]) not in (_COMPARISONS if tokens[0].type == "NAME" else {":", *_COMPARISONS}):
        return False
    depth = 0
    for token in tokens:
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if token == ":" and depth == 0:
            return True
    return False


def _by_word(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    token = tokens[number]
    named = _BY_WORD.get(_text(token))
    if named is None or _is_name(tokens, number):
        return None
    if _text(token) == "executor":
        return named if _follows(tokens, number, "=") else None
    return named


def _by_call(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    return _CALLS.get(_text(tokens[number])) if _follows(tokens, number, "(") else None


def _arithmetic(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    if tokens[number].type == "OTHER" and _text(tokens[number]) in _ARITHMETIC:
        return "arithmetic", "compute in the skill"
    return None


def _alias(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    token = tokens[number]
    if _text(token) == "as" and number and tokens[number - 1].type in ("RPAR", "NAME", "RSQB"):
        return "an alias (as)", "use the names of the outputs"
    return None


def _subquery(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    brace = _text(tokens[number]) == "{" and number and tokens[number - 1].type in ("RPAR", "CLASS")
    if brace and not any(_text(token) == "class" for token in tokens[:number]):
        return "a subquery ({...} after a call)", "chain the queries with => instead"
    return None


_FINDERS: tuple[Callable[[Sequence[Token], int], tuple[str, str] | None], ...] = (
    _by_word,
    _by_call,
    _arithmetic,
    _alias,
    _subquery,
)


def _is_name(tokens: Sequence[Token], number: int) -> bool:
    """Tell whether a word is the name of a parameter or a field where it stands."""
    before = _text(tokens[number - 1]) if number else ""
    after = _text(tokens[number + 1]) if number + 1 < len(tokens) else ""
    if _text(tokens[number]) == "executor":
        return before in ("(", ",")
    return (before in ("(", ",", ".") and after in ("=", ",", ")", ".")) or before == "."


def _follows(tokens: Sequence[Token], number: int, sign: str) -> bool:
    return number + 1 < len(tokens) and _text(tokens[number + 1]) == sign


def _text(token: Token) -> str:
    return str(token)
