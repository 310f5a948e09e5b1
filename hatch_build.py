"""Build hook of the compiled wheel: the modules that a turn runs through, as C extensions by mypyc.

It is off by default, and the wheel is then pure; `make wheel` sets HATCH_BUILD_HOOK_ENABLE_CUSTOM.

mypyc cannot compile a `msgspec.Struct`, whose class keywords it drops. In a copy of the sources the
Structs of these modules, which never leave the process, become plain classes with the same
constructor. Their attributes are then read without a look-up, which is most of the gain.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULES = """
    assistant/journal assistant/person_queues assistant/rounds/effects assistant/rounds/interpreter
    assistant/turn_result assistant/turn_runner
    connectors/python
    dialog/agent_state dialog/draft_hypothesis dialog/ids dialog/profile_changes dialog/rendering
    dialog/splicing
    pipeline/calling pipeline/calls pipeline/circuit_breaker pipeline/draft pipeline/draft_view
    pipeline/guard pipeline/ledger pipeline/ledger_entries pipeline/replies pipeline/requests
    pipeline/slots pipeline/snapshot pipeline/turn
    stores/sqlite/pending_rows stores/sqlite/worker_thread stores/sqlite/writer
""".split()

COMPILE = """
import sys
from mypyc.build import mypycify
from setuptools import setup
extensions = mypycify(sys.argv[1:], opt_level="3", debug_level="0", group_name="prolocutor")
setup(name="prolocutor", packages=[], ext_modules=extensions,
      script_args=["--quiet", "build_ext", "--inplace"])
"""
MYPY = "[mypy]\nignore_missing_imports = True\n"


class CompiledWheel(BuildHookInterface[Any]):
    """Compile the modules in `build/compiled/tree` and put them into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the extensions; the modules themselves stay in the wheel beside them."""
        if version == "editable":
            return
        root = Path(self.root)
        tree = root / "build" / "compiled" / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(root / "src" / "prolocutor", tree / "prolocutor", ignore=ignored)
        sources = [f"prolocutor/{module}.py" for module in MODULES]
        for source in sources:
            path = tree / source
            path.write_text(without_structs(path.read_text("utf-8")), "utf-8")
        (tree / "mypy.ini").write_text(MYPY)
        subprocess.run([sys.executable, "-c", COMPILE, *sources], cwd=tree, check=True)
        for path in [*tree.glob("*.*"), *tree.glob("prolocutor/**/*.*")]:
            if path.suffix not in (".so", ".pyd"):
                continue
            build_data["force_include"][str(path)] = path.relative_to(tree).as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


class Field(NamedTuple):
    """One field of a Struct, as source."""

    name: str
    type: str
    default: str | None


def without_structs(source: str) -> str:
    """Return the source of a module with plain classes where it defines Structs.

    Every other line stays where it is, so that tracebacks name the lines of the module itself.
    """
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and "msgspec.Struct" in map(ast.unparse, node.bases):
            make_plain(node, lines)
    return "\n".join([*lines, ""])


def make_plain(node: ast.ClassDef, lines: list[str]) -> None:
    """Turn a Struct into a class whose constructor stands in the place of its docstring."""
    options = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
    if len(node.bases) > 1 or not options.keys() <= {"frozen", "eq", "kw_only", "gc"}:
        raise ValueError(f"{node.name} cannot be compiled: move it to a module that is not")
    found = [
        (one, Field(one.target.id, type_of(one), one.value and ast.unparse(one.value)))
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]
    docstring = node.body[0]
    for statement, text in [
        (docstring, constructor([field for _, field in found], bool(options.get("kw_only")))),
        *((statement, f"{field.name}: {field.type}") for statement, field in found),
    ]:
        first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
        lines[first:last] = ["    " + text, *[""] * (last - first - 1)]
    lines[node.lineno - 1 : docstring.lineno - 1] = [
        f"class {node.name}:",
        *[""] * (docstring.lineno - node.lineno - 1),
    ]


def type_of(field: ast.AnnAssign) -> str:
    """Return the type of a field; a float may be an integer, which mypyc would convert."""
    written = ast.unparse(field.annotation)
    return "int | float" if written == "float" else written


def constructor(fields: list[Field], kw_only: bool) -> str:
    """Write the constructor of a class with these fields in one line."""
    parameters = ["self", *(["*"] if kw_only else []), *map(parameter, fields)]
    body = [
        f"self.{one.name} = {one.default} if {one.name} is None else {one.name}"
        if one.default in ("[]", "{}")
        else f"self.{one.name} = {one.name}"
        for one in fields
    ]
    return f"def __init__({', '.join(parameters)}) -> None: {'; '.join(body)}"


def parameter(field: Field) -> str:
    """Write the parameter of a field; a list or dict by default is one of its own."""
    if field.default in ("[]", "{}"):
        return f"{field.name}: {field.type} | None = None"
    return f"{field.name}: {field.type}" + (f" = {field.default}" if field.default else "")
