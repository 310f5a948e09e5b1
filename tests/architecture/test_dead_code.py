"""No function, method or class is left over that nothing names any more."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import vulture

ROOT = Path(__file__).parents[2]
KINDS = {"class", "function", "import", "method", "property"}

PARLAI = "part of ParlAI's interface, by which its own code calls ours"
HTTPTOOLS = "called by httptools' parser"
PYTEST = "called by pytest"
UVICORN = "called by uvicorn's protocols, which are extended"
TRANSPORT = "called by asyncio's transports"
ALLOWED = {
    "FunctionData": "a teacher for Python users, out of a function",
    "SelfChatWorld": "a world for Python users, in which two agents talk",
    "Teacher": "the promise that data sets of others keep",
    "add_cmdline_args": PARLAI,
    "add_metrics": PARLAI,
    "as_int": PARLAI,
    "batch_respond": PARLAI,
    "beam_texts": PARLAI,
    "compute_many": PARLAI,
    "create_index": "part of the interface of MongoDB's driver",
    "create_module": "called by Python's import",
    "distinct": "part of the interface of MongoDB's driver",
    "buffer_updated": TRANSPORT,
    "eof_received": TRANSPORT,
    "format_commands": "called by Click",
    "first_turn": "named by what pipeline files of DeepPavlov come to",
    "from_mask": PARLAI,
    "get_acts": PARLAI,
    "get_agents": PARLAI,
    "get_command": "called by Click",
    "get_model_agent": PARLAI,
    "get_task_agent": PARLAI,
    "get_buffer": TRANSPORT,
    "handle_cont": UVICORN,
    "insert_one": "part of the interface of MongoDB's driver",
    "is_training": PARLAI,
    "json_safe_payload": PARLAI,
    "lex": "called by Lark",
    "log_message": "called by http.server",
    "on_header": HTTPTOOLS,
    "on_message_begin": HTTPTOOLS,
    "on_response_complete": UVICORN,
    "process_request": "called by Agent Squad",
    "pytest_addoption": PYTEST,
    "pytest_configure": PYTEST,
    "pytest_fixture_setup": PYTEST,
    "pytest_pyfunc_call": PYTEST,
    "read_candidates": "reads the file of candidates that ParlAI's tasks name",
    "text_candidates": PARLAI,
    "tokenize_text": "called by py-rouge",
    "update_one": "part of the interface of MongoDB's driver",
    "upgrade_opt": PARLAI,
    "wait_for_phase": "called by tests, which follow a process from outside",
}
"""What others call by its name, and why nothing here does."""


@pytest.fixture(scope="module")
def left_over() -> list[tuple[str, str]]:
    return list(unused())


def test_nothing_is_left_over_that_nobody_names(left_over: list[tuple[str, str]]) -> None:
    found = [one for name, one in left_over if name not in ALLOWED]
    assert found == [], "delete it, or say in ALLOWED who calls it by its name"


def test_nothing_is_allowed_that_is_named_or_gone(left_over: list[tuple[str, str]]) -> None:
    stale = sorted(set(ALLOWED) - {name for name, _ in left_over})
    assert stale == [], "take it out of ALLOWED"


def test_what_nobody_names_is_found(tmp_path: Path) -> None:
    file = tmp_path / "left.py"
    file.write_text("def over():\n    pass\n\n\nclass Used:\n    pass\n\n\nUsed()\n")

    assert [name for name, _ in unused([file], mentioned=set())] == ["over"]


def unused(
    files: list[Path] | None = None, mentioned: set[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Return the name and the place of all that is neither used in code nor named in a string."""
    named = mentioned_names() if mentioned is None else mentioned
    search = vulture.Vulture(
        ignore_names=["test_*"],  # of the kits, which call them where they are inherited
        ignore_decorators=["@*.command", "@named"],
    )
    search.scavenge(files or [ROOT / "src", ROOT / "bench"], exclude=[".peers"])
    for item in search.get_unused_code(min_confidence=60):
        is_special = item.name.startswith("__") and item.name.endswith("__")
        if item.typ in KINDS and item.name not in named and not is_special:
            yield item.name, f"{item.filename}:{item.first_lineno}: {item.typ} {item.name}"


def mentioned_names() -> set[str]:
    """Return what entry points, assistants' files, grammars, pages and tests of plug-ins name."""
    found = set(re.findall(r'= ".*:(\w+)', (ROOT / "pyproject.toml").read_text("utf-8")))
    for file in (ROOT / "tests").rglob("*.py"):  # what authors of plug-ins test with
        for line in re.findall(
            r"^from prolocutor\.testing\S* import .+|prolocutor\.testing\S*",
            file.read_text("utf-8"),
            re.MULTILINE,
        ):
            found |= set(re.findall(r"\w+", line))
    for folder in (ROOT / "src", ROOT / "bench"):
        for file in folder.rglob("*"):
            if ".peers" in file.parts:  # the neighbours' own packages
                continue
            if file.suffix in {".yaml", ".lark"}:
                found |= set(re.findall(r"\w+", file.read_text("utf-8")))
            elif file.suffix == ".py":
                # The kits name the functions that they call by one word.
                is_kit, text = "testing" in file.parts, file.read_text("utf-8")
                name = r"(?:^|[.:])(\w+)$" if is_kit else r"[.:](\w+)$"
                if not is_kit and not re.search(r"[.:]\w+[\"'{\\]", text):
                    continue  # no string ends in a name: parsing takes long
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        found |= set(re.findall(name, node.value))
    for page in (ROOT / "docs").rglob("*.md"):
        for code in re.findall(r"`[^`]+`", page.read_text("utf-8")):
            found |= set(re.findall(r"\w+", code))
    return found
