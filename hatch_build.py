"""Build hook of the compiled wheel: the modules that a turn runs through, as C extensions by mypyc.

It is off by default, and the wheel is then pure; `make wheel` sets HATCH_BUILD_HOOK_ENABLE_CUSTOM.

mypyc cannot compile a `msgspec.Struct`, whose class keywords it drops. In a copy of the sources the
Structs of these modules, which never leave the process, become plain classes with the same
constructor. Their attributes are then read without a look-up, which is most of the gain. Structs
that plug-ins make or extend (`contracts`), or that msgspec reads or writes, stay what they are:
their modules are not compiled.
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
    assistant/feed assistant/journal assistant/observer_group
    assistant/person_queues assistant/rounds/effects assistant/rounds/interpreter
    assistant/rounds/program_turns assistant/rounds/secrets assistant/turn_result
    assistant/turn_runner
    connectors/python
    dialog/agent_state dialog/ids dialog/plain dialog/profile_changes dialog/rendering
    pipeline/calling pipeline/calls pipeline/draft pipeline/draft_view pipeline/guard
    pipeline/ledger pipeline/prepared pipeline/replies pipeline/requests pipeline/slots
    pipeline/snapshot pipeline/turn
    stores/sqlite/head_cache stores/sqlite/queries stores/sqlite/turn_writer
    stores/sqlite/worker_thread stores/sqlite/writer
""".split()

COMPILE = """
import sys
from mypyc.build import mypycify
from setuptools import setup
extensions = mypycify(sys.argv[1:], opt_level="3", debug_level="0", group_name="prolocutor")
setup(name="prolocutor", packages=[], ext_modules=extensions,
      script_args=["--quiet", "build_ext", "--inplace"])
"""
STRUCT = "msgspec.Struct"
FUTURE = "from __future__ import annotations"
WITH_ATTRIBUTES = [  # what marks classes for mypyc is not needed where the wheel is used
    f"{FUTURE}; import typing",
    "if typing.TYPE_CHECKING: from mypy_extensions import mypyc_attr",
]
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
        sources = prepare(tree)
        subprocess.run([sys.executable, "-c", COMPILE, *sources], cwd=tree, check=True)
        for path in [*tree.glob("*.*"), *tree.glob("prolocutor/**/*.*")]:
            if path.suffix not in (".so", ".pyd"):
                continue
            build_data["force_include"][str(path)] = path.relative_to(tree).as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def prepare(tree: Path) -> list[str]:
    """Write the modules as they are compiled, in a copy of the sources; return their paths."""
    (tree / "mypy.ini").write_text(MYPY)
    classes = PlainClasses()
    sources = [f"prolocutor/{module}.py" for module in MODULES]
    for path in (tree / source for source in sources):
        path.write_text(classes.written(path.read_text("utf-8")), "utf-8")
    return sources


class Field(NamedTuple):
    """One field of a Struct, as source; `kw_only`: it is given by its name."""

    name: str
    type: str
    default: str | None
    kw_only: bool


class PlainClasses:
    """Writes plain classes in the place of Structs, whose bases have to come before them."""

    def __init__(self) -> None:
        self._fields: dict[str, list[Field]] = {STRUCT: []}

    def written(self, source: str) -> str:
        """Return the source of a module with plain classes where it defines Structs.

        Every other line stays where it is, so that tracebacks name the lines of the module itself.
        """
        lines = source.splitlines()
        for node in ast.parse(source).body:
            bases = [ast.unparse(base) for base in getattr(node, "bases", [])]
            if isinstance(node, ast.ClassDef) and not self._fields.keys().isdisjoint(bases):
                self._make_plain(node, lines)
        return "\n".join([*lines, ""])

    def _make_plain(self, node: ast.ClassDef, lines: list[str]) -> None:
        """Turn a Struct into a class whose constructor stands in the place of its docstring."""
        options = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
        if len(node.bases) > 1 or not options.keys() <= {"frozen", "eq", "kw_only", "gc"}:
            raise ValueError(f"{node.name} cannot be compiled: move it to a module that is not")
        base = ast.unparse(node.bases[0])
        found = [
            (one, field_of(one, one.target.id, bool(options.get("kw_only"))))
            for one in node.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        ]
        inherited, fields = self._fields[base], [field for _, field in found]
        self._fields[node.name] = inherited + fields
        docstring = node.body[0]
        for statement, text in [
            (docstring, constructor(inherited, fields)),
            *((statement, f"{field.name}: {field.type}") for statement, field in found),
        ]:
            first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
            lines[first:last] = ["    " + text, *[""] * (last - first - 1)]
        lines[node.lineno - 1 : docstring.lineno - 1] = [
            f"class {node.name}:" if base == STRUCT else f"class {node.name}({base}):",
            *[""] * (docstring.lineno - node.lineno - 1),
        ]
        if options.get("gc") is False:  # the garbage collector need not look at it either
            if FUTURE in lines:
                at = lines.index(FUTURE)
                lines[at : at + 2] = WITH_ATTRIBUTES
            lines[node.lineno - 2] = "@mypyc_attr(acyclic=True)"


def field_of(field: ast.AnnAssign, name: str, kw_only: bool) -> Field:
    """Return a field; a float may be an integer, which mypyc would convert."""
    type_ = ast.unparse(field.annotation)
    default = field.value and ast.unparse(field.value)
    return Field(name, "int | float" if type_ == "float" else type_, default, kw_only)


def constructor(inherited: list[Field], fields: list[Field]) -> str:
    """Write the constructor of a class with these fields in one line."""
    every = [*inherited, *fields]
    by_place = [parameter(one) for one in every if not one.kw_only]
    by_name = [parameter(one) for one in every if one.kw_only]
    parameters = ["self", *by_place, *(["*"] if by_name else []), *by_name]
    body = [
        f"self.{one.name} = {one.default} if {one.name} is None else {one.name}"
        if one.default in ("[]", "{}")
        else f"self.{one.name} = {one.name}"
        for one in fields
    ]
    if inherited:
        given = ", ".join(f"{one.name}={one.name}" for one in inherited)
        body.insert(0, f"super().__init__({given})")
    return f"def __init__({', '.join(parameters)}) -> None: {'; '.join(body)}"


def parameter(field: Field) -> str:
    """Write the parameter of a field; a list or dict by default is one of its own."""
    if field.default in ("[]", "{}"):
        return f"{field.name}: {field.type} | None = None"
    return f"{field.name}: {field.type}" + (f" = {field.default}" if field.default else "")
