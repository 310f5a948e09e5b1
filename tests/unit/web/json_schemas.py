"""JSON values for a JSON schema: those that fit it, and those that nearly do."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Json = dict[str, Any]

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False).filter(
    # JSON schema takes 1.0 for an integer, and msgspec does not.
    lambda number: not number.is_integer()
)
ANYTHING: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def fitting(schema: Json, components: Mapping[str, Json]) -> SearchStrategy[Any]:
    """Values that a schema of ours accepts."""
    if "$ref" in schema:
        return fitting(components[schema["$ref"].rpartition("/")[2]], components)
    if "anyOf" in schema:
        return st.one_of([fitting(option, components) for option in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        return _objects(schema, components)
    if kind == "array":
        return st.lists(fitting(schema.get("items", {}), components), max_size=3)
    if kind == "string":
        return _texts(schema)
    if kind == "integer":
        return st.integers(schema.get("minimum", -100), schema.get("maximum", 100))
    return {"number": NUMBERS, "boolean": st.booleans(), "null": st.none()}.get(kind, ANYTHING)


def nearly_fitting(schema: Json, components: Mapping[str, Json]) -> SearchStrategy[Any]:
    """Values of which a part was taken away, added or put in the place of another."""
    return fitting(schema, components).flatmap(_mutated) | ANYTHING


def _texts(schema: Json) -> SearchStrategy[str]:
    texts = st.from_regex(schema["pattern"], fullmatch=True) if "pattern" in schema else TEXTS
    least, most = schema.get("minLength", 0), schema.get("maxLength", 1 << 20)
    return texts.filter(lambda text: least <= len(text) <= most)


def _objects(schema: Json, components: Mapping[str, Json]) -> SearchStrategy[Json]:
    properties = {
        name: fitting(inner, components) for name, inner in schema.get("properties", {}).items()
    }
    required = {name: properties.pop(name) for name in schema.get("required", [])}
    known = st.fixed_dictionaries(required, optional=properties)
    others = schema.get("additionalProperties", True)
    inner = fitting(others, components) if isinstance(others, dict) else ANYTHING
    more = st.dictionaries(TEXTS, inner, max_size=2)
    return st.builds(lambda told, extra: {**extra, **told}, known, more)


def _mutated(value: Any) -> SearchStrategy[Any]:
    if isinstance(value, dict) and value:
        at = st.sampled_from(sorted(value))
        without = at.map(lambda key: {k: v for k, v in value.items() if k != key})
        replaced = st.tuples(at, ANYTHING).map(lambda pair: {**value, pair[0]: pair[1]})
        deeper = at.flatmap(
            lambda key: _mutated(value[key]).map(lambda inner: {**value, key: inner})
        )
        return without | replaced | deeper
    if isinstance(value, list) and value:
        return st.lists(ANYTHING, max_size=3) | _mutated(value[0]).map(lambda inner: [inner])
    if isinstance(value, str):
        return st.sampled_from([value + "x", value[:-1], None, 7])
    return ANYTHING
