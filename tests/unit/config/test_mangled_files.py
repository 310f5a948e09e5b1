"""However a file is mangled, it loads or is refused with its faults."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.config.loading import load
from prolocutor.config.yaml_file import ConfigFaults

FULL = (Path(__file__).parents[2] / "data" / "config" / "full.yaml").read_text(encoding="utf-8")

Way = tuple[str | int, ...]

words = st.sampled_from(
    ["call", "a:b", "skills", "http://h", "units", "all", "${X}", "", "<<", "é"]
)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), words)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(words, st.text(max_size=5)), inner, max_size=3),
    ),
    max_leaves=6,
)


def ways(tree: Any, way: Way = ()) -> Iterator[Way]:
    yield way
    entries = enumerate(tree) if isinstance(tree, list) else ()
    for step, child in tree.items() if isinstance(tree, dict) else entries:
        yield from ways(child, (*way, step))


WAYS = list(ways(yaml.safe_load(FULL)))[1:]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mangled") / "assistant.yaml"


@pytest.mark.slow
@given(
    deletions=st.lists(st.sampled_from(WAYS), max_size=3),
    replacements=st.lists(st.tuples(st.sampled_from(WAYS), values), max_size=4),
)
def test_a_tree_with_nodes_deleted_and_replaced(
    file: Path, deletions: list[Way], replacements: list[tuple[Way, Any]]
) -> None:
    tree = yaml.safe_load(FULL)
    for way, value in replacements:
        _change(tree, way, value)
    for way in deletions:
        _change(tree, way)

    _loads_or_is_refused(file, yaml.safe_dump(tree, allow_unicode=True))


@pytest.mark.slow
@given(
    at=st.integers(0, len(FULL)),
    length=st.integers(0, 60),
    text=st.one_of(
        st.text(max_size=8), st.text(alphabet=" \t\n:-[]{}&*!|>'\"%@`<?,#$x1", max_size=8)
    ),
)
def test_a_text_with_a_piece_replaced(file: Path, at: int, length: int, text: str) -> None:
    _loads_or_is_refused(file, FULL[:at] + text + FULL[at + length :])


def _change(tree: Any, way: Way, *value: Any) -> None:
    """Put a value at a place of the tree, or take the place away, if it is still there."""
    *parents, last = way
    for step in parents:
        try:
            tree = tree[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(tree, dict if isinstance(last, str) else list):
        if value and (isinstance(tree, dict) or last < len(tree)):  # type: ignore[operator]
            tree[last] = value[0]
        elif last in (tree if isinstance(tree, dict) else range(len(tree))):
            del tree[last]


def _loads_or_is_refused(file: Path, text: str) -> None:
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        load(file, environ={})
    except ConfigFaults as error:
        refusal = error
    else:
        return
    assert refusal.file == str(file)
    assert len(str(refusal).splitlines()) == len(refusal.faults)
