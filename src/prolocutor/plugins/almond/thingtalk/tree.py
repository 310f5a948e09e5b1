"""The tree of a ThingTalk program: statements, expressions, conditions, control commands."""

from __future__ import annotations

from typing import Literal, TypeAlias

from prolocutor.plugins.almond.thingtalk.manifests import Class
from prolocutor.plugins.almond.thingtalk.nodes import SyntaxNode
from prolocutor.plugins.almond.thingtalk.values import Value

Comparison = Literal[
    "==",
    ">=",
    "<=",
    ">",
    "<",
    "=~",
    "~=",
    "contains",
    "contains~",
    "~contains",
    "in_array",
    "in_array~",
    "~in_array",
    "starts_with",
    "ends_with",
    "prefix_of",
    "suffix_of",
]
"""How two values are compared; `=~` is "contains the text", `~=` "is contained in the text"."""

Aggregation = Literal["count", "sum", "avg", "max", "min"]


class DeviceSelector(SyntaxNode, frozen=True):
    """The device of a call: its class, and among several of a class its id or name, or all."""

    kind: str
    id: str | None = None
    name: str | None = None
    all: bool = False


class Argument(SyntaxNode, frozen=True):
    """A named input of a call."""

    name: str
    value: Value


class Invocation(SyntaxNode, frozen=True):
    """A call of a function of a device: a query or, last in a chain, an action."""

    device: DeviceSelector
    function: str
    arguments: tuple[Argument, ...] = ()


class Always(SyntaxNode, frozen=True):
    """A condition that is always true, or never."""

    value: bool


class DontCare(SyntaxNode, frozen=True):
    """A condition that allows any value of a field."""

    field: str


class Compare(SyntaxNode, frozen=True):
    """A condition on two values; the left value is most often a field, as a `Variable`."""

    left: Value
    operator: Comparison
    right: Value


class Not(SyntaxNode, frozen=True):
    """True where the condition is not."""

    condition: Condition


class And(SyntaxNode, frozen=True):
    """True where all conditions hold; two or more conditions, without nested `And`s."""

    conditions: tuple[Condition, ...]


class Or(SyntaxNode, frozen=True):
    """True where any condition holds; two or more conditions, without nested `Or`s."""

    conditions: tuple[Condition, ...]


Condition: TypeAlias = Always | DontCare | Compare | Not | And | Or


class Filter(SyntaxNode, frozen=True):
    """The results of a query or stream for which a condition is true."""

    source: Expression
    condition: Condition


class Projection(SyntaxNode, frozen=True):
    """Only some fields of the results."""

    source: Expression
    fields: tuple[str, ...]


class Sort(SyntaxNode, frozen=True):
    """The results in the order of a field."""

    source: Expression
    field: str
    direction: Literal["asc", "desc"]


class Index(SyntaxNode, frozen=True):
    """Some of the results by their numbers, from 1; -1 is the last."""

    source: Expression
    indices: tuple[Value, ...]


class Slice(SyntaxNode, frozen=True):
    """`count` results from the number `base` on, the first being 1."""

    source: Expression
    base: Value
    count: Value


class Aggregate(SyntaxNode, frozen=True):
    """A single result of all results: their count, or the sum, mean, maximum or minimum of a
    field.
    """

    source: Expression
    operator: Aggregation
    field: str | None = None


class Monitor(SyntaxNode, frozen=True):
    """A stream: the results of a query that are new, or new in some fields."""

    source: Expression
    fields: tuple[str, ...] = ()


class Edge(SyntaxNode, frozen=True):
    """A stream: the results of another stream at which a condition becomes true."""

    source: Expression
    condition: Condition


class TimerStream(SyntaxNode, frozen=True):
    """A stream: every interval from a date on, or so many times in an interval."""

    base: Value
    interval: Value
    frequency: Value | None = None


class AtTimerStream(SyntaxNode, frozen=True):
    """A stream: every day at some times, until a date."""

    times: tuple[Value, ...]
    expiration: Value | None = None


Expression: TypeAlias = (
    Invocation
    | Filter
    | Projection
    | Sort
    | Index
    | Slice
    | Aggregate
    | Monitor
    | Edge
    | TimerStream
    | AtTimerStream
)


class Statement(SyntaxNode, frozen=True):
    """A chain of expressions, each of which may use the outputs of earlier ones.

    Written `[stream =>] [query =>]* [action];`. The manifest says which call is an action; a chain
    without an action shows its results. `confirm` is the `#[confirm=...]` before it: whether the
    person has to confirm it; None if left to the manifests.
    """

    chain: tuple[Expression, ...]
    confirm: bool | None = None


class Program(SyntaxNode, frozen=True):
    """Statements, run in order, and classes declared beside them."""

    statements: tuple[Statement, ...] = ()
    classes: tuple[Class, ...] = ()


class Control(SyntaxNode, frozen=True):
    """A control command: `yes`, `choice` with a whole number, `answer` with a value, ..."""

    name: str
    value: Value | None = None


Source: TypeAlias = Program | Control
"""The content of a source."""
