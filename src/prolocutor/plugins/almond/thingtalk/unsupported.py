"""Unsupported constructs of ThingTalk, each refused by its name."""

from __future__ import annotations

from collections.abc import Container, Sequence

from lark import Token

from prolocutor.errors import ThingTalkError
from prolocutor.plugins.almond.thingtalk.lexer import token_position
from prolocutor.plugins.almond.thingtalk.nodes import SourcePosition, fault

_CHAIN = "chain the queries with => instead"
_IN_SKILL = "compute in the skill"
_PERMISSIONS = "permissions are not set by programs"

_ANNOTATION = "an annotation of a program"
_IN_MANIFEST = "annotations belong into manifests, but for #[confirm=false]"

_COMPARISONS = frozenset({"==", ">=", "<=", ">", "<", "=~", "~="})
_COMPUTED = frozenset({"count", "sum", "avg", "max", "min"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "**"})
_BEFORE_CONDITION = frozenset({",", "filter", "&&", "||", "!", "and", "or", "not"})

_BY_WORD: dict[str, tuple[str, str]] = {
    "executor": ("an executor", "programs run for who sends them; leave it out"),
    "function": ("a function or macro declaration", "write the statements themselves"),
    "dataset": ("a dataset", "only classes are declared"),
    "$dialogue": ("a dialogue state ($dialogue)", "send a program or a control command"),
    "$policy": ("a permission policy ($policy)", _PERMISSIONS),
    "let": ("an assignment (let)", "write the expression where it is used"),
    "join": ("a join", _CHAIN),
    "compute": ("a computation (compute)", _IN_SKILL),
    "oninput": ("an oninput rule", "begin the statement with now or monitor"),
    "return": ("a return statement", "end the chain there"),
}

_BY_CALL: dict[str, tuple[str, str]] = {
    "any": ("a subquery (any(...))", _CHAIN),
    "distance": ("a distance computation (distance)", _IN_SKILL),
    "set_time": ("a computation of a time (set_time)", _IN_SKILL),
    "RecurrentTimeSpecification": ("a recurrent time", "use attimer or timer"),
    "ArgMap": ("an argument map (ArgMap)", "leave it out"),
    "makeArgMap": ("an argument map (makeArgMap)", "leave it out"),
}


def find_unsupported(
    tokens: Sequence[Token], upto: int, words: Container[str]
) -> ThingTalkError | None:
    """Return the error for the first unsupported construct among the tokens.

    `upto` is the index of the rejected token; `words` are the grammar's keywords, which are
    therefore not at fault. None without an unsupported construct: the program is malformed.
    """
    if _is_permission_rule(tokens):
        return _refusal("a permission rule", _PERMISSIONS, tokens[0])
    for number, token in enumerate(tokens[: upto + 3]):
        if str(token) in words and str(token) in _BY_WORD:
            continue
        for find in (_word_construct, _call_construct, _arithmetic, _alias, _subquery):
            named = find(tokens, number)
            if named:
                return _refusal(*named, token)
    return _rejected_construct(tokens, upto) if upto < len(tokens) else None


def annotation_refused(name: SourcePosition) -> ThingTalkError:
    """Return the error for an annotation of a statement, at the `#[` before its name."""
    position = SourcePosition(name.line, max(1, name.column - len("#[")))
    return fault(f"{_ANNOTATION} is not taken here", position, _IN_MANIFEST)


def executor_refused(position: SourcePosition) -> ThingTalkError:
    """Return the error for a program with an executor."""
    name, do = _BY_WORD["executor"]
    return fault(f"{name} is not taken here", position, do)


def _refusal(name: str, do: str, token: Token) -> ThingTalkError:
    return fault(f"{name} is not taken here", token_position(token), do)


def _is_permission_rule(tokens: Sequence[Token]) -> bool:
    if tokens[0] == "policy":
        return True
    if tokens[0].type not in ("NAME", "TRUE", "FALSE") and tokens[0] != "$source":
        return False
    if len(tokens) < 2 or str(tokens[1]) not in (":", *_COMPARISONS):
        return False
    depth = 0
    for token in tokens:
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if token == ":" and depth == 0:
            return True
    return False


def _word_construct(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    word = str(tokens[number])
    if word not in _BY_WORD or tokens[number].type == "STRING":
        return None
    before, after = _near(tokens, number - 1), _near(tokens, number + 1)
    if word == "executor":
        return _BY_WORD[word] if after == "=" and before not in ("(", ",") else None
    is_name = before == "." or (before in ("(", ",", "[") and after in ("=", ",", ")", ".", "]"))
    return None if is_name else _BY_WORD[word]


def _call_construct(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    return _BY_CALL.get(str(tokens[number])) if _near(tokens, number + 1) == "(" else None


def _arithmetic(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    token = tokens[number]
    if token.type == "OTHER" and str(token) in _ARITHMETIC and number:
        return "arithmetic", _IN_SKILL
    return None


def _alias(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    if tokens[number] == "as" and number and tokens[number - 1].type in ("RPAR", "NAME", "RSQB"):
        return "an alias (as)", "use the names of the outputs"
    return None


def _subquery(tokens: Sequence[Token], number: int) -> tuple[str, str] | None:
    is_call = tokens[number].type in ("REF", "FUNCTION")
    if is_call and _near(tokens, number - 1) in _BEFORE_CONDITION:
        return "a subquery in a condition", _CHAIN
    return None


def _rejected_construct(tokens: Sequence[Token], number: int) -> ThingTalkError | None:
    """Return the error for the construct around the rejected token."""
    before = [str(token) for token in tokens[:number]]
    if tokens[number] == "(" and before[-1:] and before[-1] in _COMPUTED:
        return _refusal(f"a computation ({before[-1]}(...))", _IN_SKILL, tokens[number - 1])
    if tokens[number] == "(" and number and tokens[number - 1].type == "NAME":
        name = f"a function of values ({before[-1]!s:.40}(...))"
        return _refusal(name, _IN_SKILL, tokens[number - 1])
    if tokens[number] in ("#[", "#_["):
        return _refusal(_ANNOTATION, _IN_MANIFEST, tokens[number])
    opened = next((token for token in reversed(before) if token in ("[", "]", "(", ";", "=>")), "")
    if opened == "[" and str(tokens[number]) in (*_COMPARISONS, "(", "filter", "of"):
        name = "a computed projection ([...] of)"
        return _refusal(name, "only fields can be chosen", tokens[number])
    if tokens[number] == "=>" and opened == "(":
        return _refusal("a chain within an expression", "chain at the top level", tokens[number])
    return None


def _near(tokens: Sequence[Token], number: int) -> str:
    return str(tokens[number]) if 0 <= number < len(tokens) else ""
