"""The fields of an effect, which a person sees, changes and approves, or a rule approves."""

from __future__ import annotations

import ast
import operator
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject, decode
from prolocutor.errors import BadReply, ConfigError

SCALARS: Final = (str, int, float, bool)

_HIDING: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Classes of signs that turn the direction of those around them."""

_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_WITHIN: Final = (ast.In, ast.NotIn)
_EXAMPLE: Final = "such as amount < 20 and currency == 'EUR'"
MAX_RULE: Final = 1000


class EffectPreview(msgspec.Struct, frozen=True):
    """The preview of a call: a title, fields with values, and the kinds of some fields.

    - `kinds` are members of JSON Schema (`type`, `enum`, `title`) by field.
    - `changeable`: the agent heeds changes of the fields.
    - `confidence` is the confidence of the question for approval.
    """

    fields: JsonObject = {}
    title: str = ""
    kinds: JsonObject = {}
    changeable: bool = True
    confidence: float = 0.9


def bare_answer(value: Any) -> Any:
    """Return an agent's answer as an object, unwrapped from its connector's hypothesis.

    Agents of chat protocols answer with a data part, or with a text of JSON.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or not {"text", "confidence"} <= value.keys():
        return value
    attributes = value.get("attributes")
    parts = attributes.get("data_parts") if isinstance(attributes, dict) else None
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(part.get("data"), dict):
            return part["data"]
    try:
        return decode(value["text"])
    except (ValueError, TypeError, RecursionError):
        return value["text"] if value.keys() == {"text", "confidence"} else value


def read_preview(value: Any) -> EffectPreview | None:
    """Read a preview: `{fields, title?, kinds?, confidence?}`, or the fields alone.

    Return None if the call would do nothing; raise `BadReply` for any other form.
    """
    value = bare_answer(value)
    if value is None or value == []:
        return None
    if not isinstance(value, dict):
        raise BadReply("a preview is an object with fields, or null")
    if not isinstance(value.get("fields"), dict):
        return EffectPreview(value)
    try:
        return msgspec.convert(value, EffectPreview)
    except msgspec.ValidationError as error:
        raise BadReply(f"a preview: {error}") from None


def field_lines(fields: Mapping[str, Any], kinds: Mapping[str, Any]) -> list[str]:
    """Return the fields as lines of text.

    Further lines of a value are indented, so that they do not look like fields.
    """
    return [
        f"{one_line(field_title(key, kinds))}: {_visible(_field_text(value))}"
        for key, value in fields.items()
    ]


def one_line(text: str) -> str:
    """Return a text as a single line, without control characters."""
    return " ".join(_visible(text).split())


def field_title(key: str, kinds: Mapping[str, Any]) -> str:
    """Return the title of a field."""
    kind = kinds.get(key)
    title = kind.get("title") if isinstance(kind, dict) else None
    return title if isinstance(title, str) and title else key


def _field_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "-"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _visible(text: str) -> str:
    return "\n    ".join(
        "".join("\ufffd" if _hides(sign) else sign for sign in line) for line in text.splitlines()
    )


def _hides(sign: str) -> bool:
    category = unicodedata.category(sign)
    return (category == "Cc" and sign != "\t") or unicodedata.bidirectional(sign) in _HIDING


def field_question(key: str, value: Any, kinds: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the kind of ask for a new value of a field, and the choices."""
    kind = kinds.get(key)
    kind = kind if isinstance(kind, dict) else {}
    if isinstance(kind.get("enum"), list) and kind["enum"]:
        return "choice", [str(one) for one in kind["enum"]]
    type_ = kind.get("type")
    if type_ == "boolean" or (type_ is None and isinstance(value, bool)):
        return "yesno", []
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if type_ in ("number", "integer") or (type_ is None and number):
        return "number", []
    return "raw_string", []


def given_value(key: str, kinds: Mapping[str, Any], answer: Any) -> Any:
    """Return the new value of a field from an answer."""
    kind = kinds.get(key)
    kind = kind if isinstance(kind, dict) else {}
    if isinstance(kind.get("enum"), list) and isinstance(answer, dict):
        return kind["enum"][answer["idx"]]
    if kind.get("type") == "integer" and isinstance(answer, float) and answer.is_integer():
        return int(answer)
    return answer


class ApprovalRule:
    """A comparison of fields, such as `amount < 20 and currency in ["EUR", "CHF"]`.

    It consists of names of fields, numbers, texts, lists, comparisons, `and`, `or` and `not`, and
    nothing else. A comparison with a missing field, or with a value of another type, makes it
    false.
    """

    def __init__(self, text: str) -> None:
        try:
            if len(text) > MAX_RULE:
                raise SyntaxError("it is too long")
            self._tree = ast.parse(text.strip(), mode="eval").body
            _check(self._tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            what = error.msg if isinstance(error, SyntaxError) else str(error)
            hint = f"expected a comparison of fields, {_EXAMPLE}"
            raise ConfigError(f"{text!r:.80}: {what}; {hint}", key="rule") from None
        self.text = text

    def holds(self, fields: Mapping[str, Any]) -> bool:
        """Return whether the rule is true of these fields."""
        try:
            return _value(self._tree, fields) is True
        except (LookupError, TypeError):
            return False


def _check(node: ast.expr) -> None:
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                _check(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _check(operand)
        case ast.Compare(left=left, ops=ops, comparators=others):
            if not all(type(one) in _COMPARISONS for one in ops):
                raise SyntaxError("only <, <=, >, >=, ==, != and in compare")
            for one in (left, *others):
                _check_operand(one)
        case ast.Name() | ast.Constant(value=bool()):
            pass
        case _:
            raise SyntaxError("this is not a comparison")


def _check_operand(node: ast.expr) -> None:
    match node:
        case ast.Name() | ast.Constant(value=str() | int() | float() | None):
            pass
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            pass
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                _check_operand(item)
        case _:
            raise SyntaxError("only names of fields, numbers, texts and lists are compared")


def _value(node: ast.expr, fields: Mapping[str, Any]) -> Any:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(value, fields) is True for value in values)
        case ast.BoolOp(values=values):
            return any(_value(value, fields) is True for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, fields)
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return -value  # type: ignore[operator] # `_check_operand` lets numbers alone through
        case ast.Name(id=name):
            return (
                {"true": True, "false": False, "null": None}[name]
                if (name in ("true", "false", "null") and name not in fields)
                else fields[name]
            )
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item, fields) for item in items]
        case ast.Compare(left=left, ops=ops, comparators=others):
            one = _value(left, fields)
            for op, other in zip(ops, others, strict=True):
                two = _value(other, fields)
                if isinstance(one, bool) != isinstance(two, bool) and type(op) not in _WITHIN:
                    return False
                if not _COMPARISONS[type(op)](one, two):
                    return False
                one = two
            return True
    raise TypeError(type(node).__name__)
