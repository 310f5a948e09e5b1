"""Manifests as text, in the canonical form."""

from __future__ import annotations

from prolocutor.almond.thingtalk.manifests import Annotated, Class, Function, Import, Parameter
from prolocutor.almond.thingtalk.printing_values import show_value


def show_class(manifest: Class) -> str:
    """Return a class as source; `parse_classes` makes the same tree of it."""
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
