"""Manifests named in a file: found beside it, and checked before any traffic."""

from __future__ import annotations

from pathlib import Path

import pytest

from prolocutor.config.file_check import check
from prolocutor.config.loading import load

YAML = """
skills:
  one:
    call: "http://127.0.0.1:9/one"
    card: {manifest: %s}
  two:
    call: "http://127.0.0.1:9/two"
    card: {manifest: "class @com.two { query q(out text : String); }"}
"""


def written(folder: Path, manifest: str) -> Path:
    file = folder / "assistant.yaml"
    file.write_text(YAML % manifest)
    return file


def test_a_manifest_is_found_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "one.tt").write_text("class @com.one { query q(out text : String); }")
    file = written(tmp_path, "one.tt")
    [one, two] = load(file).pipeline.skills
    assert one.card == {"manifest": str(tmp_path / "one.tt")}
    assert two.card is not None
    assert two.card["manifest"].startswith("class @com.two")
    assert check(file).faults == ()


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (None, "cannot be read"),
        ("class @com.one { query q(out text : Strung); }", "line 1, column "),
        ("class @com.two { query q(); }", "stands in the manifests of one and two"),
    ],
)
def test_a_manifest_that_cannot_be_taken_is_a_fault_of_its_line(
    tmp_path: Path, source: str | None, what: str
) -> None:
    if source is not None:
        (tmp_path / "one.tt").write_text(source)
    [fault] = check(written(tmp_path, "one.tt")).faults
    assert what in fault.what
    assert (fault.key or "").endswith("card.manifest")
    assert fault.line in (5, 8)
