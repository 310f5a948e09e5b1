"""Prints programs and classes in the canonical form of ThingTalk 2.x."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prolocutor.plugins.almond.thingtalk.manifests import (
    Annotated,
    Class,
    Function,
    Import,
    Parameter,
)
from prolocutor.plugins.almond.thingtalk.parsing import cut_tokens
from prolocutor.plugins.almond.thingtalk.printing_values import escape, show_value
from prolocutor.plugins.almond.thingtalk.tree import (
    Aggregate,
    Always,
    And,
    Argument,
    AtTimerStream,
    Compare,
    Condition,
    Control,
    DeviceSelector,
    DontCare,
    Edge,
    Expression,
    Filter,
    Index,
    Invocation,
    Monitor,
    Not,
    Or,
    Projection,
    Slice,
    Sort,
    Source,
    Statement,
    TimerStream,
)
from prolocutor.plugins.almond.thingtalk.values import Value

_INFIX = frozenset({"==", ">=", "<=", ">", "<", "=~", "~="})


def show(tree: Source) -> str:
    """Return a program or control command as source; `parse` returns an equal tree."""
    if isinstance(tree, Control):
        return _control(tree)
    parts = [show_class(each) for each in tree.classes]
    parts += [show_statement(each) for each in tree.statements]
    return "\n".join(parts)


def show_statement(statement: Statement) -> str:
    """Return a statement as source, with its semicolon."""
    confirm = "" if statement.confirm is None else f"#[confirm={str(statement.confirm).lower()}] "
    return confirm + " => ".join(show_expression(each) for each in statement.chain) + ";"


def show_expression(expression: Expression) -> str:
    """Return an expression of a chain as source."""
    match expression:
        case Invocation(device, function, arguments):
            return f"{_device(device)}.{function}({_arguments(arguments)})"
        case Filter(source, condition):
            return f"{_filter_source(source)} filter {show_condition(condition)}"
        case Projection(source, fields):
            return f"[{', '.join(fields)}] of {show_expression(source)}"
        case Sort(source, field, direction):
            return f"sort({field} {direction} of {show_expression(source)})"
        case Index(source, indices):
            return f"{_primary(source)}[{_values(indices)}]"
        case Slice(source, base, count):
            return f"{_primary(source)}[{show_value(base)} : {show_value(count)}]"
        case Aggregate(source, operator, field):
            of = f"{field} of " if field else ""
            return f"{operator}({of}{show_expression(source)})"
        case Monitor(source, fields):
            of = f"{', '.join(fields)} of " if fields else ""
            return f"monitor({of}{show_expression(source)})"
        case Edge(source, condition):
            return f"edge({show_expression(source)}) on {show_condition(condition)}"
        case TimerStream(base, interval, frequency):
            often = f", frequency={show_value(frequency)}" if frequency is not None else ""
            return f"timer(base={show_value(base)}, interval={show_value(interval)}{often})"
        case AtTimerStream(times, expiration):
            until = f", expiration_date={show_value(expiration)}" if expiration is not None else ""
            return f"attimer(time=[{_values(times)}]{until})"


def show_condition(condition: Condition) -> str:
    """Return a condition as source."""
    match condition:
        case Always(value):
            return "true" if value else "false"
        case DontCare(field):
            return f"true({field})"
        case Compare(left, operator, right) if operator in _INFIX:
            return f"{show_value(left)} {operator} {show_value(right)}"
        case Compare(left, operator, right):
            return f"{operator}({show_value(left)}, {show_value(right)})"
        case Not(inner):
            return f"!{_atom(inner)}"
        case And(conditions):
            return " && ".join(
                f"({show_condition(each)})" if isinstance(each, Or) else show_condition(each)
                for each in conditions
            )
        case Or(conditions):
            return " || ".join(map(show_condition, conditions))


def _control(control: Control) -> str:
    if control.value is None:
        return f"${control.name};"
    return f"${control.name}({show_value(control.value)});"


def _filter_source(source: Expression) -> str:
    """Return the source of a filter; only a projection needs parentheses."""
    text = show_expression(source)
    return f"({text})" if isinstance(source, Projection) else text


def _primary(source: Expression) -> str:
    text = show_expression(source)
    needs = isinstance(source, Projection | Filter | Index | Slice | Monitor | Edge)
    return f"({text})" if needs else text


def _atom(condition: Condition) -> str:
    text = show_condition(condition)
    bare = isinstance(condition, Always | DontCare) or (
        isinstance(condition, Compare) and condition.operator not in _INFIX
    )
    return text if bare else f"({text})"


def _device(device: DeviceSelector) -> str:
    chosen = []
    if device.id is not None:
        shown = f"({escape(device.name)})" if device.name is not None else ""
        chosen.append(f"id={escape(device.id)}^^tt:device_id{shown}")
    elif device.name is not None:
        chosen.append(f"name={escape(device.name)}")
    if device.all:
        chosen.append("all=true")
    return f"@{device.kind}({', '.join(chosen)})" if chosen else f"@{device.kind}"


def _arguments(arguments: Iterable[Argument]) -> str:
    return ", ".join(f"{each.name}={show_value(each.value)}" for each in arguments)


def _values(values: Iterable[Value]) -> str:
    return ", ".join(map(show_value, values))


def show_class(manifest: Class) -> str:
    """Return a class as source; `parse_classes` returns an equal tree."""
    extends = f" extends {', '.join('@' + name for name in manifest.extends)}"
    begin = "abstract class" if manifest.is_abstract else "class"
    head = f"{begin} @{manifest.name}{extends if manifest.extends else ''}{_notes(manifest)}"
    members = [_import(each) for each in manifest.imports]
    for each in manifest.entities:
        kinds = f" extends {', '.join(map(_kind, each.extends))}" if each.extends else ""
        members.append(f"entity {each.name}{kinds}{_notes(each)};")
    members += [_function(each) for each in manifest.functions]
    return "\n".join([head + " {", *(f"  {member}" for member in members), "}"])


def _import(each: Import) -> str:
    given = ", ".join(f"{name}={show_value(value)}" for name, value in each.arguments)
    return f"import {', '.join(each.facets)} from @{each.module}({given});"


def _function(function: Function) -> str:
    words = [
        *(["monitorable"] if function.is_monitorable else []),
        *(["list"] if function.is_list else []),
        function.kind,
        function.name,
    ]
    extends = f" extends {', '.join(function.extends)}" if function.extends else ""
    parameters = ", ".join(map(_parameter, function.parameters))
    return f"{' '.join(words)}{extends}({parameters}){_notes(function)};"


def _parameter(each: Parameter) -> str:
    return f"{each.direction} {each.name} : {each.type}{_notes(each)}"


def _kind(name: str) -> str:
    return f"^^{name}" if ":" in name else name


def _notes(annotated: Annotated) -> str:
    return "".join(
        f" #{'_' if each.is_text else ''}[{each.name}={show_value(each.value)}]"
        for each in annotated.annotations
    )


def show_tokens(tree: Source) -> tuple[list[str], dict[str, Any]]:
    """Return a program or a control command as tokens and entities; `parse_tokens` reads them.

    Texts become entities `QUOTED_STRING_n`, equal texts the same entity. Raise `MissingExtra`
    without Lark.
    """
    entities: dict[str, Any] = {}
    names: dict[str, str] = {}
    code = []
    for token in cut_tokens(show(tree)):
        if token.type == "STRING":
            name = names.setdefault(token.value, f"QUOTED_STRING_{len(names)}")
            entities[name] = token.value
            code.append(name)
        else:
            code.append(str(token))
    return code, entities
