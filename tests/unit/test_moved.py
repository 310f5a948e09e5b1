"""Old paths of modules lead to the new ones."""

import importlib
import importlib.metadata
import json.decoder
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from prolocutor.moved import GROUP, MovedModules

POINTS = {
    "old.kept": "json [stays]",
    "old.kept.separate": "html.entities [stays]",
    "old.left": "json",
    "old.lost": "prolocutor.not_there",
}


@pytest.fixture(autouse=True)
def _old(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a package `old` be found by its entry points alone."""
    points = [EntryPoint(name, value, GROUP) for name, value in POINTS.items()]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: points)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, MovedModules("old")])
    sys.modules["old"] = type(sys)("old")
    sys.modules["old"].__path__ = []
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "old"]:
        del sys.modules[name]


def test_a_module_below_an_old_path_has_the_very_names_of_the_new_one() -> None:
    moved = importlib.import_module("old.kept.decoder")

    assert moved.JSONDecoder is json.decoder.JSONDecoder


def test_a_longer_path_goes_before_a_shorter_one() -> None:
    assert hasattr(importlib.import_module("old.kept.separate"), "name2codepoint")


def test_an_old_path_warns_once_a_line_with_the_new_one() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        from old.left.decoder import JSONDecoder  # type: ignore[import-not-found]

    told = "old.left is now json; the old name goes after this release"
    assert JSONDecoder is json.decoder.JSONDecoder
    assert [(str(one.message), one.category, one.filename) for one in seen] == [
        (told, DeprecationWarning, __file__)
    ]


@pytest.mark.parametrize("name", ["old.kept.nothing", "old.nothing", "old.lost"])
@pytest.mark.filterwarnings("ignore:old.lost is now")
def test_what_is_at_neither_place_is_not_found(name: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


def test_importing_the_package_looks_up_no_entry_points() -> None:
    code = "import sys, prolocutor.errors; print('importlib.metadata' in sys.modules)"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "False"


def test_an_old_name_in_a_file_is_told_with_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text("skills: {it: {call: 'prolocutor.services.follow_up:annotate'}}\n")

    run = subprocess.run(
        [sys.executable, "-m", "prolocutor", "check", file], capture_output=True, text=True
    )

    told = "prolocutor.services is now prolocutor.plugins.language; the old name goes after"
    assert run.returncode == 0
    assert run.stderr == f"prolocutor: {told} this release\n"
