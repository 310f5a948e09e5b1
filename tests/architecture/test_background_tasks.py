"""Every task has an owner: `BackgroundTasks`, a `TaskGroup`, or what owns the calls of services."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "prolocutor"
OWNERS = ("background.py", "pipeline/calls.py")
STARTS = ("create_task", "ensure_future")


def test_no_task_is_started_without_an_owner() -> None:
    files = [
        one for one in SOURCE.rglob("*.py") if one.relative_to(SOURCE).as_posix() not in OWNERS
    ]

    found = [line for file in files for line in naked_tasks(file)]
    assert found == [], "use a TaskGroup, or what owns the loop's tasks (OWNERS)"


def test_a_naked_task_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("asyncio.create_task(a())\nloop().ensure_future(a())\ngroup.create_task(a())\n")

    assert [line.rpartition(":")[2] for line in naked_tasks(file)] == ["1", "2"]


def naked_tasks(file: Path) -> Iterator[str]:
    """Return where tasks are started; those of a group are its own."""
    text = file.read_text("utf-8")
    if not any(start in text for start in STARTS):
        return  # parsing takes long
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in STARTS:
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner != "group":
                yield f"{file}:{node.lineno}"
