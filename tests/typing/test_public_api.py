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


@pytest.mark.parametrize("name", prolocutor.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(prolocutor, name) is not None


def test_the_type_checker_knows_the_same_names() -> None:
    tree = ast.parse(Path(prolocutor.__file__ or "").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {alias.name for node in imports if node.module != "typing" for alias in node.names}
    typed -= {"annotations"}
    assert typed == set(prolocutor.__all__) - {"__version__"}


@pytest.mark.parametrize("name", sorted({*prolocutor.__all__} - {"__version__", "Message"}))
def test_no_public_module_has_loose_dicts(name: str) -> None:
    module = importlib.import_module(prolocutor._MODULES[name])
    source = Path(module.__file__ or "").read_text()

    assert re.findall(r"\bdict\[str, (?:Any|object)\]|\bDict\b", source) == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Asistant'"):
        prolocutor.Asistant  # noqa: B018


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
    assert (checked.stdout, checked.returncode) == ("", 0)
