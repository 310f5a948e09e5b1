"""A dotted name that cannot be used says which part of it is wrong."""

import json
import os.path
from pathlib import Path

import pytest

from prolocutor.errors import ConfigError
from prolocutor.functions import resolve


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dotted_whole.py").write_text("class A:\n  def f(self): ...\nanswer = 42\n")
    (tmp_path / "dotted_torn.py").write_text("def f(:\n")
    (tmp_path / "dotted_needy.py").write_text("import no_such_library\n")
    (tmp_path / "dotted_angry.py").write_text("raise ValueError('no')\n")
    (tmp_path / "dotted_quitter.py").write_text("raise SystemExit(1)\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("dotted", "complaint"),
    [
        ("json.dumps", "'json.dumps' is not a dotted name; write it as package.module:function"),
        ("json:", "'json:' is not a dotted name; write it as package.module:function"),
        (":dumps", "':dumps' is not a dotted name; write it as package.module:function"),
        ("jsson:dumps", "jsson:dumps: there is no module 'jsson'"),
        ("json.sub.deep:f", "json.sub.deep:f: there is no module 'json.sub'"),
        (
            "json:JSONDecode",
            "json:JSONDecode: module 'json' has no 'JSONDecode'; did you mean 'JSONDecoder'?",
        ),
        ("json:zzz", "json:zzz: module 'json' has no 'zzz'"),
        ("dotted_whole:A.g", "dotted_whole:A.g: module 'dotted_whole', 'A' has no 'g'"),
        ("dotted_whole:answer", "dotted_whole:answer: this is of type int, which cannot be called"),
        (
            "dotted_needy:f",
            "dotted_needy:f: the module 'dotted_needy' imports 'no_such_library', "  # noqa: ISC004
            "which is not installed",
        ),
        (
            "dotted_angry:f",
            "dotted_angry:f: importing 'dotted_angry' failed: ValueError: no",
        ),
        (
            "dotted_quitter:f",
            "dotted_quitter:f: importing 'dotted_quitter' failed: SystemExit: 1",
        ),
    ],
)
def test_the_complaint_names_the_part_that_is_wrong(
    dotted: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(os.getcwd())
    with pytest.raises(ConfigError) as caught:
        resolve(dotted)

    assert str(caught.value) == complaint


def test_a_syntax_error_is_told_with_file_and_line() -> None:
    with pytest.raises(ConfigError, match=r"dotted_torn:f: dotted_torn.py:1: invalid syntax"):
        resolve("dotted_torn:f")


def test_a_missing_module_may_lie_in_a_folder_that_is_not_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.path", ["/nowhere"])
    with pytest.raises(ConfigError, match="is not searched"):
        resolve("no_such_module:f")


def test_a_dotted_name_leads_to_its_function() -> None:
    assert resolve("json:dumps") is json.dumps
