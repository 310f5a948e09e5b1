"""Services added to an assistant's file: text is inserted, other text is unchanged."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any, Final

import yaml

from prolocutor.config.yaml_file import escape_value
from prolocutor.contracts.probe import FoundService
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plan.pipeline import Stage

STAGE: Final = Stage.SKILL.value
DEADLINE_SECONDS: Final = 40
"""Seconds for a turn, in a new file."""

DEFAULT_DEADLINE: Final = 5
_NAME: Final = re.compile(r"[\w.:+@ -]{1,100}")


def new_file(title: str, name: str, found: FoundService, key: str | None) -> str:
    """Return the text of a file with one skill."""
    head = _dump({"name": title, "deadline": DEADLINE_SECONDS})
    return f"{head}{STAGE}:\n{entry_text(name, found, key, '  ')}"


def entry_text(name: str, found: FoundService, key: str | None, indent: str) -> str:
    """Return the lines of a service; `key` is the variable that holds its key."""
    call: Any = escape_value(found.call)
    if key is not None:
        call = call if isinstance(call, dict) else {"url": call}
        call = {**call, "key": f"${{{key}}}"}
    entry: dict[str, Any] = {} if found.connector is None else {"connector": found.connector}
    entry |= {"call": call, "timeout": found.timeout}
    lines = _dump({name: entry}).rstrip("\n").split("\n")
    return "".join(f"{indent}{line}\n" for line in lines)


def add_service(
    text: str, file: str, found: FoundService, *, name: str | None, key: str | None
) -> tuple[str, str]:
    """Return the text of a file with one more skill, and its name.

    A taken name gets a number, unless it was given. Raise `BadInput` for a given name that is
    taken, or for a target already called; raise `ConfigError` for a file to which services cannot
    be added.
    """
    before = _read(text, file)
    taken = _names(before)
    if name is None:
        name = _free(found.name, taken)
        called = [one for one, entry in taken.items() if _is_same(entry, found)]
        if called:
            raise BadInput(f"{file} calls it already: {called[0]}; give --name to add it once more")
    elif not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} is not a name: letters, digits, spaces and . _ - : + @", field="name"
        )
    elif name in taken:
        raise BadInput(f"{file} has a service {name} already; give another --name", field="name")
    after = _insert_service(text, file, name, found, key)
    wanted = yaml.safe_load(entry_text(name, found, key, ""))
    skills = before.get(STAGE) or {}
    if _load(after) != {**before, STAGE: {**skills, **wanted}}:
        raise _unwritable(file, name, found, key)
    return after, name


def deadline_notes(text: str, found: FoundService) -> list[str]:
    """Return notes on a deadline of the file shorter than the service's time-out."""
    deadline = _load(text).get("deadline", DEFAULT_DEADLINE)
    if not isinstance(deadline, int | float) or deadline > found.timeout:
        return []
    return [f"the file's deadline of {deadline:g} s ends before its time-out: {found.timeout} s"]


def write_whole(path: Path, text: str) -> None:
    """Write a file at once or not at all, with the permissions that it had."""
    target = path.resolve()
    number, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _read(text: str, file: str) -> dict[str, Any]:
    try:
        before = _load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"this is not YAML: {str(error).splitlines()[0]}", file=file) from None
    if before is None:
        return {}
    if not isinstance(before, dict) or not isinstance(before.get(STAGE) or {}, dict):
        raise ConfigError(f"no assistant's file: {STAGE} should be a map", file=file)
    return before


def _load(text: str) -> Any:
    return yaml.load(
        text, Loader=yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader
    )


def _names(before: dict[str, Any]) -> dict[str, Any]:
    """Return the services of all stages by their names."""
    found: dict[str, Any] = {}
    for stage in Stage:
        services = before.get(stage.value)
        if isinstance(services, dict) and "call" not in services:
            found |= {str(name): entry for name, entry in services.items()}
    return found


def _is_same(entry: Any, found: FoundService) -> bool:
    call, wanted = entry.get("call") if isinstance(entry, dict) else entry, escape_value(found.call)
    if isinstance(call, dict) and not isinstance(wanted, dict):
        call = call.get("url")
    if isinstance(call, dict) and isinstance(wanted, dict):
        call = {key: value for key, value in call.items() if key in wanted}
    return bool(call == wanted)


def _free(name: str, taken: dict[str, Any]) -> str:
    numbered = (f"{name}_{number}" for number in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one not in taken)


def _insert_service(text: str, file: str, name: str, found: FoundService, key: str | None) -> str:
    """Insert the service after the last service, in the style of the file."""
    newline = "\r\n" if "\r\n" in text else "\n"
    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    position = next((n for n, (at, _) in enumerate(entries) if at.value == STAGE), None)
    if root is not None and root.flow_style:
        raise _unwritable(file, name, found, key)
    if position is None:
        added = f"{STAGE}:\n{entry_text(name, found, key, '  ')}"
        return _insert_lines(text, len(text.splitlines()), added, newline)
    skills = entries[position][1]
    if isinstance(skills, yaml.MappingNode) and skills.flow_style:
        if not text[skills.end_mark.index - 1] == "}":
            raise _unwritable(file, name, found, key)
        entry = yaml.safe_load(entry_text(name, found, key, ""))
        inner = yaml.safe_dump(entry, default_flow_style=True, width=10_000, sort_keys=False)
        comma = ", " if skills.value else ""
        at = skills.end_mark.index - 1
        return text[:at].rstrip(" ") + comma + inner.strip()[1:-1] + text[at:]
    following = entries[position + 1][0].start_mark.line if entries[position + 1 :] else None
    lines = text.splitlines()
    last = len(lines) if following is None else following
    while last > 0 and (
        not lines[last - 1].strip() or lines[last - 1].startswith(("#", "...", "---"))
    ):
        last -= 1
    if isinstance(skills, yaml.MappingNode) and skills.value:
        indent = " " * skills.value[0][0].start_mark.column
    else:
        indent = "  "
    return _insert_lines(text, last, entry_text(name, found, key, indent), newline)


def _insert_lines(text: str, number: int, lines: str, newline: str) -> str:
    """Insert lines before the line of this number, counted from 0."""
    kept = text.splitlines(keepends=True)
    if kept and number >= len(kept) and not kept[-1].endswith("\n"):
        kept[-1] += newline
    return "".join([*kept[:number], lines.replace("\n", newline), *kept[number:]])


def _unwritable(file: str, name: str, found: FoundService, key: str | None) -> ConfigError:
    entry = f"{STAGE}:\n{entry_text(name, found, key, '  ')}"
    return ConfigError(
        f"the file is written so that nothing can be added to it; add\n{entry}", file=file
    )


def _dump(content: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)
    return text
