"""The floors: who may import whom, and from where in a file; a class name leads to one place."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "prolocutor"
HEAVY = """
    aiohttp click numpy opentelemetry prometheus_client rich sqlite3 uvicorn yaml
""".split()
"""What takes long to import; an assistant alone needs telemetry's interface of it."""

_SUSPECT = re.compile(
    r"^[ \t]+(?:from|import) |[:;] *(?:from|import) |\bprolocutor import\b"
    r"|\bimport\b.*\bprolocutor\b(?!\.)",
    re.MULTILINE,
)
"""An import within a block, or of the package itself; other modules need not be parsed."""

Import = ast.Import | ast.ImportFrom


def test_every_import_points_to_a_floor_below() -> None:
    # In a process of its own: it switches off the loggers of others.
    lint = "from importlinter.cli import lint_imports as lint; raise SystemExit(lint())"
    linted = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True)

    cure = "take what you need as an argument, typed by a Protocol of `contracts`"
    assert linted.returncode == 0, f"{linted.stdout}\n{cure}"


def test_no_import_of_ours_hides_in_a_function_body() -> None:
    found = [f"{file}:{line}" for file, tree in trees() for line in _hidden(file, tree)]

    assert found == [], "move it to the top; only libraries of an optional extra stay in a function"


def test_no_module_imports_through_the_face_of_the_package() -> None:
    found = [f"{file}:{line}" for file, tree in trees() for line in _through_the_face(tree)]

    assert found == [], "import the name from the module that defines it, not from `prolocutor`"


@pytest.mark.parametrize(
    ("name", "heavy"),
    [("__version__", HEAVY), ("Assistant", [one for one in HEAVY if one != "opentelemetry"])],
)
def test_the_package_and_its_first_name_load_nothing_heavy(name: str, heavy: list[str]) -> None:
    code = (
        f"import sys, prolocutor as it; it.{name}; print(*[m for m in {heavy} if m in sys.modules])"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.split() == [], "name it in `prolocutor/__init__.py` by its module"


def test_a_class_name_leads_to_one_place() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for name in re.findall(r"^class (\w+)[:(]", file.read_text("utf-8"), re.MULTILINE):
            homes[name].append(str(file.relative_to(PACKAGE)))

    twice = {name: files for name, files in homes.items() if len(files) > 1}
    assert twice == {}, "give one of them a name that says what it alone is"


@pytest.mark.parametrize(
    ("file", "source", "found"),
    [
        ("turn.py", "def f():\n    import prolocutor.errors", ["2: import prolocutor.errors"]),
        (
            "turn.py",
            "class A:\n  async def f(self):\n    if self:\n      from prolocutor.dialog import ids",
            ["4: from prolocutor.dialog import ids"],
        ),
        ("turn.py", "def f():\n    import torch", []),
        ("turn.py", "from prolocutor.dialog import ids", []),
        ("cli/main.py", "def f():\n    import prolocutor.cli.serve", []),
        ("__init__.py", "def __getattr__(name):\n    import prolocutor.errors", []),
        ("__init__.py", "def f():\n    import prolocutor.errors", ["2: import prolocutor.errors"]),
    ],
)
def test_the_search_for_hidden_imports_finds_them(file: str, source: str, found: list[str]) -> None:
    assert list(_hidden(file, ast.parse(source))) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from prolocutor import Assistant", ["1: from prolocutor import Assistant"]),
        ("import prolocutor", ["1: import prolocutor"]),
        ("from prolocutor.errors import StoreError", []),
    ],
)
def test_the_search_for_imports_through_the_face_finds_them(source: str, found: list[str]) -> None:
    assert list(_through_the_face(ast.parse(source))) == found


def trees() -> Iterator[tuple[str, ast.AST]]:
    """Return the path within the package, and the tree, of each module that may break a rule."""
    for file in sorted(PACKAGE.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if _SUSPECT.search(source):
            yield str(file.relative_to(PACKAGE)), ast.parse(source)


def _hidden(file: str, tree: ast.AST) -> Iterator[str]:
    """The imports of our own modules in function bodies, outside the three lazy places."""
    if file == "cli/main.py":
        return
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if file == "__init__.py" and function.name == "__getattr__":
            continue
        for statement in _imports(function):
            if any(name.split(".")[0] == "prolocutor" for name in _imported(statement)):
                yield f"{statement.lineno}: {ast.unparse(statement)}"


def _through_the_face(tree: ast.AST) -> Iterator[str]:
    """The imports of the package itself."""
    for statement in _imports(tree):
        if "prolocutor" in _imported(statement):
            yield f"{statement.lineno}: {ast.unparse(statement)}"


def _imports(tree: ast.AST) -> Iterator[Import]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def _imported(statement: Import) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module or ""]
