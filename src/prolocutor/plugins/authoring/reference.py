"""The reference: the keys of a file as tables of Markdown, for all installed plug-ins.

A subject is a key of a file, `file` for those at its top (`limits.person`), or a plug-in and a key
of its options (`connectors.rasa`, `selectors.router.budget`). A page marks the place of the table
of a subject, or of a joint table of several subjects:

    <!-- reference: limits.person limits.token -->
    <!-- /reference -->
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from prolocutor.bounds import MANY, Bounds
from prolocutor.catalog import Catalog
from prolocutor.clocks import YEAR
from prolocutor.config.fields import (
    ChoiceField,
    DurationField,
    FieldKind,
    JsonField,
    ListField,
    MapField,
    NumberField,
    OneOfField,
    TableField,
    TextField,
    written_time,
)
from prolocutor.config.file_keys import (
    AuthField,
    PluggedField,
    file_schema,
    file_table,
    plugged_tables,
)
from prolocutor.config.selector_making import SELECTORS
from prolocutor.config.service_entries import ServicesField, method_structs, whole_service_table
from prolocutor.config.struct_fields import struct_table
from prolocutor.connectors.connector_catalog import CONNECTORS, ENDPOINTS
from prolocutor.data_sets import DATA
from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.doors.door_catalog import DOORS
from prolocutor.errors import NotFound
from prolocutor.names import suggest
from prolocutor.stores.store_catalog import STORES

PLUGGED: Final[Mapping[str, Catalog[Any]]] = {
    "connectors": CONNECTORS,
    "endpoints": ENDPOINTS,
    "doors": DOORS,
    "asks": ASK_KINDS,
    "stores": STORES,
    "selectors": SELECTORS,
    "data": DATA,
}
"""The plug-ins with tables of options, by the first word of their subjects."""

FILE: Final = "file"

_BLOCK: Final = re.compile(
    r"<!-- reference: (?P<subjects>[^\n]+?) -->\n.*?<!-- /reference -->", re.DOTALL
)
_HEADING: Final = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)


def subjects() -> list[str]:
    """Return all subjects with a table, for all installed plug-ins."""
    plugged = [
        f"{group}.{name}" for group, some in PLUGGED.items() for name in plugged_tables(some)
    ]
    plugged += [f"{group}.{name}" for group, some in _methods().items() for name in some]
    return [
        FILE,
        *_below("", file_table()),
        *(subject for top in plugged for subject in _list_subjects(top)),
    ]


def _methods() -> dict[str, dict[str, TableField]]:
    """Return the tables of selectors' methods with options, by their group."""
    found: dict[str, dict[str, TableField]] = {}
    for name, options in plugged_tables(SELECTORS).items():
        kind = options.keys[name]
        if isinstance(kind, TextField) and kind.group is not None:
            group = kind.group.rpartition(".")[2]
            structs = method_structs(kind).items()
            found[group] = {method: struct_table(struct) for method, struct in structs}
    return found


def _list_subjects(subject: str) -> list[str]:
    return [subject, *_below(f"{subject}.", find_table(subject))]


def _below(path: str, table: TableField) -> Iterator[str]:
    for key, kind in table.keys.items():
        if (part := _inner_table(kind)) is not None:
            yield f"{path}{key}"
            yield from _below(f"{path}{key}.", part)


def find_table(subject: str) -> TableField:
    """Return the keys of a subject; raise `NotFound` for an unknown subject."""
    first, *rest = subject.split(".")
    if first in PLUGGED and rest:
        table: TableField | None = plugged_tables(PLUGGED[first]).get(rest.pop(0))
    elif first in _methods() and rest:
        table = _methods()[first].get(rest.pop(0))
    else:
        table, rest = file_table(), [] if subject == FILE else [first, *rest]
    for key in rest:
        kind = None if table is None else table.keys.get(key)
        table = None if kind is None else _inner_table(kind)
    if table is None:
        hint = suggest(subject, subjects(), "there are")
        raise NotFound(f"there is no table of {subject!r}; {hint}")
    return table


def _inner_table(kind: FieldKind) -> TableField | None:
    match kind:
        case TableField():
            return kind
        case AuthField() | JsonField() | PluggedField():
            return kind.table
        case ServicesField():
            return whole_service_table(kind.stage)
        case ListField() | MapField():
            return _inner_table(kind.item)
        case OneOfField():
            return next((table for one in kind.kinds if (table := _inner_table(one))), None)
    return None


def fill(page: str) -> str:
    """Return a page of Markdown with up-to-date tables."""
    anchors = {
        subject: _anchor(page[: block.start()])
        for block in _BLOCK.finditer(page)
        for subject in block["subjects"].split()
    }

    def write_block(block: re.Match[str]) -> str:
        text = describe(block["subjects"].split(), anchors)
        return f"<!-- reference: {block['subjects']} -->\n\n{text}\n\n<!-- /reference -->"

    return _BLOCK.sub(write_block, page)


def _anchor(before: str) -> str:
    """Return the anchor of the last heading, as GitHub makes it."""
    titles = _HEADING.findall(before)
    return re.sub(r"[^\w\- ]", "", titles[-1].lower()).replace(" ", "-") if titles else ""


def describe(several: Sequence[str], anchors: Mapping[str, str] | None = None) -> str:
    """Return the description of some subjects: the purpose of a plug-in, and a table of keys.

    `anchors` are the anchors of the subjects with tables on the same page.
    """
    tables = {subject: find_table(subject) for subject in several}
    parts = []
    if (
        len(several) == 1
        and several[0].count(".") == 1
        and several[0].split(".")[0] in {*PLUGGED, *_methods()}
    ):
        parts.append((find_table(several[0]).make.__doc__ or "").partition("\n\n")[0])
    if any(table.keys for table in tables.values()):
        parts.append(_table(tables, anchors or {}))
    else:
        parts.append("It has no options.")
    return "\n\n".join(parts)


def _table(tables: Mapping[str, TableField], anchors: Mapping[str, str]) -> str:
    """Return a table with a row for each key of these subjects, and for each of its meanings."""
    having: dict[tuple[str, str, str], list[str]] = {}
    for key in dict.fromkeys(key for table in tables.values() for key in table.keys):
        for subject, table in tables.items():
            if (kind := table.keys.get(key)) is not None:
                row = (key, _type(kind), table.descriptions.get(key, ""))
                having.setdefault(row, []).append(subject)
    differ = any(len(some) < len(tables) for some in having.values())
    columns = ["key", *(["of"] if differ else []), "type", "default", "meaning"]
    rows = [columns, ["---"] * len(columns)]
    for (key, type_, meaning), some in having.items():
        anchor = next((at for one in some if (at := anchors.get(_below_key(one, key)))), None)
        of = ", ".join(f"`{_last(one)}`" for one in some) if len(some) < len(tables) else ""
        row_of = [f"`{key}`", *([of] if differ else [])]
        row_of += [f"[{type_}](#{anchor})" if anchor else type_]
        row_of += [_same({_last(one): _default(tables[one], key) for one in some}), meaning]
        rows.append([cell.replace("|", "\\|").replace("\n", " ") for cell in row_of])
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)


def _below_key(subject: str, key: str) -> str:
    return key if subject == FILE else f"{subject}.{key}"


def _same(defaults: Mapping[str, str]) -> str:
    """Return the common default of all subjects, or the default of each."""
    if len(set(defaults.values())) == 1:
        return next(iter(defaults.values()))
    return ", ".join(f"{subject} {default}" for subject, default in defaults.items() if default)


def _last(subject: str) -> str:
    return subject.rpartition(".")[2]


def _type(kind: FieldKind) -> str:
    match kind:
        case ChoiceField():
            *most, last = [f"`{word}`" for word in kind.words]
            return f"{', '.join(most)} or {last}" if most else last
        case NumberField():
            words = [f"`{word}`" for word in kind.words]
            return ", or ".join([_number_noun(kind.what, kind.bounds), *words])
        case DurationField():
            return _number_noun(kind.what, kind.bounds)
        case TextField(group=str() as group):
            names = [f"`{name}`" for name in Catalog[Any](kind.what, group).names()]
            return f"{_bare(kind.what)}: {', '.join(names)}"
        case TableField():
            return "map" if kind.short is None else _bare(kind.what).partition(" ({")[0]
        case ListField(what="a list"):
            return f"list: {_type(kind.item)}"
        case MapField(what="a map"):
            return f"map: {_type(kind.item)}"
    return _bare(kind.what)


def _bare(what: str) -> str:
    return re.sub(r"^(an?|the) ", "", what).replace("[", r"\[")


def _number_noun(what: str, bounds: Bounds) -> str:
    """Return the noun of a number, with its bounds where they matter to readers."""
    what = _bare(what)
    most = bounds.most if bounds.most < min(MANY, YEAR) else math.inf
    if "from" in what or ((bounds.least, bounds.above) == (0, -math.inf) and most == math.inf):
        return what
    if math.isfinite(most) and math.isfinite(bounds.least):
        return f"{what}, {bounds.least:.12g} to {most:.12g}"
    limits = [
        *([f"above {bounds.above:.12g}"] if math.isfinite(bounds.above) else []),
        *([f"{bounds.least:.12g} or more"] if math.isfinite(bounds.least) else []),
        *([f"at most {most:.12g}"] if math.isfinite(most) else []),
    ]
    return ", ".join([what, *limits])


def _default(table: TableField, key: str) -> str:
    """Return the default of a key; "" if its meaning states the default, or there is no default."""
    if key in table.required:
        return "needed"
    value, kind = table.defaults.get(key), table.keys[key]
    if isinstance(kind, NumberField):
        value = next((word for word, meant in kind.words.items() if meant == value), value)
    if isinstance(kind, DurationField) and value is not None:
        return f"`{written_time(value)}`"
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"`{value:.12g}`"
        case str() if value:
            return f"`{value}`"
        case [*_] if value:
            return f"`[{', '.join(map(str, value))}]`"
    return ""


@click.command(short_help="Print the JSON Schema of an assistant's file, for editors.")
def schema() -> None:
    """Print the JSON Schema (draft 2020-12) of an assistant's file, with all plug-ins installed.

    An editor that knows YAML completes and checks keys by it, where the first line of the file is
    `# yaml-language-server: $schema=assistant.schema.json`.

    \b
    Example:
      prolocutor schema > assistant.schema.json
    """
    click.echo(json.dumps(file_schema(), indent=2, ensure_ascii=False))


@click.command(short_help="Print what keys and plug-ins take, as tables of Markdown.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--write", is_flag=True, help="The names are pages: write anew the tables that they mark."
)
def reference(names: tuple[str, ...], write: bool) -> None:
    """Print the keys of NAME, with their types, defaults and meanings, as a table of Markdown.

    NAME is a key of a file, such as limits.person, or a plug-in, such as connectors.rasa; without
    one all names are listed. What other packages have installed is described in the same way.

    A page has its tables between <!-- reference: NAME --> and <!-- /reference -->.

    \b
    Examples:
      prolocutor reference skills.breaker
      prolocutor reference --write docs/reference/*.md
    """
    if not write:
        click.echo(describe(names) if names else "\n".join(subjects()))
        return
    for page in map(Path, names):
        text = page.read_text("utf-8")
        if (filled := fill(text)) != text:
            page.write_text(filled, "utf-8")
            click.echo(f"wrote {page}")
