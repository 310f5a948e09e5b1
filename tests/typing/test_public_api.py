"""Every public name is there, and the type checker agrees with what users write."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import prolocutor

HERE = Path(__file__).parent
LAZY = ("typing", "prolocutor.moved")


def test_every_public_name_is_there() -> None:
    assert [name for name in prolocutor.__all__ if getattr(prolocutor, name, None) is None] == []


def test_the_type_checker_knows_the_same_names() -> None:
    tree = ast.parse(Path(prolocutor.__file__ or "").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {alias.name for node in imports if node.module not in LAZY for alias in node.names}
    typed -= {"annotations"}
    assert typed == set(prolocutor.__all__) - {"__version__"}


def test_no_public_module_has_loose_dicts() -> None:
    names = {*prolocutor.__all__} - {"__version__", "Message"}
    loose = re.compile(r"\bdict\[str, (?:Any|object)\]|\bDict\b")
    found = {
        module: loose.findall(Path(importlib.import_module(module).__file__ or "").read_text())
        for module in sorted({prolocutor._MODULES[name] for name in names})
    }

    assert {module: words for module, words in found.items() if words} == {}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Asistant'"):
        prolocutor.Asistant  # noqa: B018


def test_almonds_messages_are_found_for_one_release_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match=r"prolocutor\.plugins\.almond\.messages:Rdl"):
        assert prolocutor.Rdl.__name__ == "Rdl"


def test_importing_the_package_imports_nothing_of_weight() -> None:
    heavy = "{'msgspec', 'aiohttp', 'asyncio', 'typing'}"
    code = f"import prolocutor, sys; print(*sorted({heavy} & {{*sys.modules}}))"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(loaded.stdout.split()) <= {"typing"}


def test_what_users_write_is_typed() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", str(HERE / "public_api.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE.parent.parent,
    )
    assert checked.stdout == ""
    assert checked.returncode == 0
