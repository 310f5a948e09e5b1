"""From a Struct's annotations to the keys of a file: one walker for all settings and options.

A field's type says what its key may hold; its `Meta` gives bounds, a `pattern` and a description,
and in `extra` what Python's types cannot say (see `prolocutor.bounds.about`). A Struct may say more
in class variables and methods:

- `expected`: what it is called where something else is found
- `synonyms`: common mistakes, and the key that is meant
- `from_short(value)`: makes it, or the map that is meant, of something else than a map; raises
  `ValueError` with what is expected
- `__post_init__`: raises `ConfigError` or `ValueError` for values that are at odds
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace

from prolocutor.bounds import TypeNotes
from prolocutor.config.fields import (
    ChoiceField,
    DurationField,
    FieldKind,
    FlagField,
    FolderField,
    JsonField,
    ListField,
    MapField,
    NumberField,
    OneOfField,
    ReadBy,
    TableField,
    TextField,
)

_SEQUENCES: Final = (list, tuple, Sequence, frozenset)
_MAPS: Final = (dict, Mapping)


@lru_cache(maxsize=256)
def struct_table(struct: type[msgspec.Struct]) -> TableField:
    """Return the keys of a Struct in a file, with the kind of each value."""
    keys, descriptions, defaults, required = {}, {}, {}, []
    for field, hint in _fields(struct):
        notes = TypeNotes(hint)
        if notes.extra.get("hidden"):
            continue
        kind = _kind(notes, _default(field))
        if kind is None:
            continue
        keys[field.name] = kind
        if notes.description:
            descriptions[field.name] = notes.description
        if field.required:
            required.append(field.name)
        else:
            defaults[field.name] = _default(field)
    return TableField(
        keys=keys,
        make=struct,
        required=tuple(required),
        what=getattr(struct, "expected", "a map"),
        synonyms=getattr(struct, "synonyms", {}),
        short=getattr(struct, "from_short", None),
        descriptions=descriptions,
        defaults=defaults,
    )


def _fields(
    struct: type[msgspec.Struct],
) -> Sequence[tuple[msgspec.structs.FieldInfo, Any]]:
    hints = get_type_hints(struct, include_extras=True)
    return [(field, hints[field.name]) for field in msgspec.structs.fields(struct)]


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return None if field.default is msgspec.NODEFAULT else field.default


def _kind(notes: TypeNotes, default: Any = None) -> FieldKind | None:
    """Return the kind of a type; None for a type unknown to files, such as a function."""
    extra, hint = notes.extra, notes.hint
    if "reads" in extra:
        return ReadBy(
            function=extra["reads"],
            each=extra.get("each", False),
            what=extra.get("what", ""),
            secret=extra.get("secret", False),
            form=extra.get("form", {}),
        )
    origin = get_origin(hint)
    if extra.get("json"):
        structs = [one for one in (hint, *get_args(hint)) if isinstance(one, type)]
        tables = [struct_table(one) for one in structs if issubclass(one, msgspec.Struct)]
        return JsonField(table=tables[0] if tables else None, **_noun(extra))
    if notes.members():
        return _union(notes, default)
    if origin is Literal:
        return ChoiceField(get_args(hint))
    if hint is bool:
        return FlagField(**_noun(extra))
    if hint in (int, float):
        return _number(notes)
    if hint is str:
        settings = {key: extra[key] for key in extra if key in ("secret", "group", "what")}
        if notes.pattern is not None:
            settings["pattern"] = notes.pattern
        return TextField(**settings)
    if hint is Path:
        return FolderField(**_noun(extra))
    if hint is Any:
        return JsonField(what="a value", anything=True)
    if hint in _SEQUENCES or origin in _SEQUENCES:
        return _list(notes)
    if hint in _MAPS or origin in _MAPS:
        return _map(notes)
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _struct(hint, default)
    return None


def _noun(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {"what": extra["what"]} if "what" in extra else {}


def _number(notes: TypeNotes, words: Sequence[str] = ()) -> FieldKind:
    extra = notes.extra
    bounds = notes.bounds()
    if extra.get("duration"):
        return DurationField(bounds=bounds, **_noun(extra))
    unit = extra.get("unit")
    number = f"{bounds.what} of {unit}" if unit else bounds.what
    what = f"{number} from 0 to 1" if (bounds.least, bounds.most) == (0, 1) else number
    number_words = {**{word: word for word in words}, **extra.get("words", {})}
    return NumberField(what=extra.get("what", what), bounds=bounds, words=number_words)


def _union(notes: TypeNotes, default: Any) -> FieldKind | None:
    parts = notes.members()
    words = [
        word for one in parts if get_origin(one.hint) is Literal for word in get_args(one.hint)
    ]
    for one in parts:
        if one.hint in (int, float) and all(
            get_origin(other.hint) is Literal for other in parts if other is not one
        ):
            return _number(one, words)
    kinds = [kind for one in parts if (kind := _kind(one, default)) is not None]
    if len(kinds) < 2:
        return kinds[0] if kinds else None
    return OneOfField(kinds=tuple(kinds), given=notes.extra.get("what", ""))


def _list(notes: TypeNotes) -> FieldKind | None:
    args = [one for one in get_args(notes.hint) if one is not Ellipsis]
    inner = TypeNotes(args[0] if args else Any)
    if "item" in notes.extra:
        inner.extra = {**inner.extra, "what": notes.extra["item"]}
    if "secret" in notes.extra:
        inner.extra = {**inner.extra, "secret": notes.extra["secret"]}
    item = _kind(inner)
    if item is None:
        return None
    least = max((one.min_length or 0 for one in notes.metas), default=0)
    single = notes.extra.get("single", False)
    return ListField(item=item, single=single, least=least, **_noun(notes.extra))


def _map(notes: TypeNotes) -> FieldKind | None:
    args = get_args(notes.hint)
    inner = TypeNotes(args[1] if args else Any)
    if inner.hint is Any:
        return JsonField(**_noun(notes.extra))
    if "item" in notes.extra:
        inner.extra = {**inner.extra, "what": notes.extra["item"]}
    item = _kind(inner)
    if item is None:
        return None
    key = _kind(TypeNotes(args[0]))
    name = key if isinstance(key, TextField) and key.what != "text" else TextField(what="a name")
    return MapField(item=item, name=name, what=notes.extra.get("what", "a map"))


def _struct(struct: type[msgspec.Struct], default: Any) -> FieldKind:
    table = struct_table(struct)
    if not isinstance(default, struct) or (not table.required and default == struct()):
        return table
    make: Callable[..., Any] = partial(
        replace, default
    )  # a setting missing in the file is unchanged
    defaults = {key: getattr(default, key) for key in table.keys}
    return replace(table, make=make, required=(), defaults=defaults)
