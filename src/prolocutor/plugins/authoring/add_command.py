"""`prolocutor new` and `prolocutor add`: an assistant's file, and services added to it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any, Final

import click
import yaml

from prolocutor.config.file_keys import file_schema
from prolocutor.config.loading import FILE_NAME, find_format
from prolocutor.config.yaml_file import escape_value
from prolocutor.contracts.probe import FoundService
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.authoring.recognition import NotRecognized, recognize

KEY_HELP = "The environment variable that holds its key; the file names it as ${NAME}."
AS_HELP = "The connector that it is for, such as a2a; nothing is guessed."
VERBOSE_HELP = "Show what was tried where nothing is recognised."

TEMPLATE: Final = Path(__file__).with_name("template")
SUFFIX: Final = ".template"
SCHEMA: Final = "assistant.schema.json"
"""The file by which editors complete and check the assistant's file."""

STAGE: Final = Stage.SKILL.value
DEADLINE_SECONDS: Final = 40
"""Seconds for a turn, in a new file."""

DEFAULT_DEADLINE: Final = 5
_NAME: Final = re.compile(r"[\w.:+@ -]{1,100}")


@click.command(short_help="Add what is behind a URL to an assistant's file.")
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option(
    "--assistant",
    "file",
    type=click.Path(path_type=Path),
    default=Path(FILE_NAME),
    show_default=True,
    help="The assistant's file; a new one is written where there is none.",
)
@click.option("--name", help="The name of the skill; by default one that suits what was found.")
@click.option("--key", metavar="NAME", help=KEY_HELP)
@click.option("--as", "connector", metavar="NAME", help=AS_HELP)
@click.option("--verbose", is_flag=True, help=VERBOSE_HELP)
def add(
    urls: tuple[str, ...],
    file: Path,
    name: str | None,
    key: str | None,
    connector: str | None,
    verbose: bool,
) -> None:
    """Find out what is behind each URL and add it to an assistant's file, as a skill.

    All installed connectors are asked whether it is theirs: it may be an assistant of Prolocutor,
    an A2A agent, a server of models as OpenAI's, an MCP server, a Rasa bot, an Almond, a WebSocket,
    or a service of our own wire. Comments and order of the file stay as they are.

    \b
    Example:
      prolocutor add http://127.0.0.1:9000 --assistant my-assistant/assistant.yaml
    """
    if name is not None and len(urls) > 1:
        raise click.UsageError("--name goes with one URL")
    path = file / FILE_NAME if file.is_dir() else file
    if (form := find_format(path)) is not None:
        raise BadInput(f"{path} {form.refusal}")
    for url in urls:
        found = look(url, key, connector, verbose=verbose)
        added = put(path, found, name, key)
        click.echo(f"{url} is {found.what}; {path} has it as the skill {added}")
        for note in [*found.notes, *deadline_notes(path.read_text("utf-8"), found)]:
            click.echo(f"  {note}")
    click.echo(f"Next:\n  prolocutor check {path}")


def look(url: str, key: str | None, connector: str | None, *, verbose: bool) -> FoundService:
    """Return the service behind a URL; raise `BadInput` if the variable with its key is not set."""
    if key is not None and not re.fullmatch(r"[A-Za-z_]\w*", key):
        raise BadInput(
            "--key names a variable of the environment, it is not the key itself", field="key"
        )
    if key is not None and key not in os.environ:
        raise BadInput(f"the environment has no variable {key}", field="key")
    held = os.environ[key] if key is not None else None
    try:
        return asyncio.run(recognize(url, key=held, connector=connector))
    except NotRecognized as error:
        if verbose:
            click.echo("\n".join(error.tried), err=True)
        raise


def put(path: Path, found: FoundService, name: str | None, key: str | None, head: str = "") -> str:
    """Write a service into a file, and return the service's name.

    A file that is not there is created and begins with `head`.
    """
    try:
        with path.open(encoding="utf-8", newline="") as opened:
            text = opened.read()
    except FileNotFoundError:
        text = head
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", file=str(path)) from None
    if text.removeprefix(head).strip():
        after, added = add_service(text, str(path), found, name=name, key=key)
    else:
        added = name or found.name
        title = path.absolute().parent.name or "Assistant"
        after = text + new_file(title, added, found, key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, after)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error}", file=str(path)) from None
    return added


@click.command(short_help="Write a small assistant of your own.")
@click.argument("target", metavar="[URL]")
@click.argument("folder", metavar="DIR", required=False, type=click.Path(path_type=Path))
@click.option("--name", help="With a URL: the name of the skill.")
@click.option("--key", metavar="NAME", help=f"With a URL: {KEY_HELP[0].lower()}{KEY_HELP[1:]}")
@click.option("--as", "connector", metavar="NAME", help=f"With a URL: t{AS_HELP[1:]}")
@click.option("--verbose", is_flag=True, help=f"With a URL: s{VERBOSE_HELP[1:]}")
def new(
    target: str,
    folder: Path | None,
    name: str | None,
    key: str | None,
    connector: str | None,
    verbose: bool,
) -> None:
    """Write a small assistant that runs at once into DIR, which must be empty or new.

    It has two skills in skills.py, put together in assistant.yaml; a test; and a README.md with
    the next steps. Its dialogs are stored in dialogs.db beside them.

    With a URL it is found out what is behind it (as `prolocutor add` does), and that is the
    assistant's one skill; DIR is then named after it where it is left out.

    \b
    Example:
      prolocutor new my-assistant
      prolocutor ask "hello" --assistant my-assistant/assistant.yaml
      prolocutor new http://127.0.0.1:9000 hotel
    """
    if "://" in target:
        found = look(target, key, connector, verbose=verbose)
        folder = folder or Path(found.name)
        _check_empty(folder)
        path = folder / FILE_NAME
        skill = put(path, found, name, key, head=f"# yaml-language-server: $schema={SCHEMA}\n")
        _write_schema(folder)
        click.echo(f"{target} is {found.what}; {path} has it as the skill {skill}. Next:")
        for note in found.notes:
            click.echo(f"  # {note}")
    elif folder is not None or name or key or connector or verbose:
        raise click.UsageError(
            f"{target} is not a URL; prolocutor new DIR, or prolocutor new URL DIR"
        )
    else:
        folder = Path(target)
        _check_empty(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = write(folder, assistant_name(folder))
        click.echo(f"{folder} is written: {', '.join(files)}. Next:")
    shown = shlex.quote(str(folder / FILE_NAME))
    click.echo(f'  prolocutor ask "hello" --assistant {shown}')
    click.echo(f"  prolocutor chat {shown}")


def _check_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is there already and not an empty folder; choose another name")


def write(folder: Path, name: str) -> list[str]:
    """Write the template's files for an assistant of this name and return their names."""
    files = []
    for template in sorted(TEMPLATE.glob(f"*{SUFFIX}")):
        file = folder / template.name.removesuffix(SUFFIX)
        file.write_text(template.read_text(encoding="utf-8").format(name=name), encoding="utf-8")
        files.append(file.name)
    _write_schema(folder)
    return [*files, SCHEMA]


def _write_schema(folder: Path) -> None:
    schema = json.dumps(file_schema(), ensure_ascii=False, separators=(",", ":"))
    (folder / SCHEMA).write_text(f"{schema}\n", encoding="utf-8")


def assistant_name(folder: Path) -> str:
    """Return a name for the assistant of a folder: `my-assistant` is `My assistant`."""
    words = " ".join(re.findall(r"\w+", folder.absolute().name)) or "My assistant"
    return words[0].upper() + words[1:]


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


def _is_same(entry: Any, service: FoundService) -> bool:
    call, wanted = (
        entry.get("call") if isinstance(entry, dict) else entry,
        escape_value(service.call),
    )
    if isinstance(call, dict) and not isinstance(wanted, dict):
        call = call.get("url")
    if isinstance(call, dict) and isinstance(wanted, dict):
        call = {key: value for key, value in call.items() if key in wanted}
    return bool(call == wanted)


def _free(name: str, taken: dict[str, Any]) -> str:
    numbered = (f"{name}_{number}" for number in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one not in taken)


def _insert_service(text: str, file: str, name: str, service: FoundService, key: str | None) -> str:
    """Insert the service after the last service, in the style of the file."""
    newline = "\r\n" if "\r\n" in text else "\n"
    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    position = next((n for n, (at, _) in enumerate(entries) if at.value == STAGE), None)
    if root is not None and root.flow_style:
        raise _unwritable(file, name, service, key)
    if position is None:
        added = f"{STAGE}:\n{entry_text(name, service, key, '  ')}"
        return _insert_lines(text, len(text.splitlines()), added, newline)
    skills = entries[position][1]
    if isinstance(skills, yaml.MappingNode) and skills.flow_style:
        if not text[skills.end_mark.index - 1] == "}":
            raise _unwritable(file, name, service, key)
        entry = yaml.safe_load(entry_text(name, service, key, ""))
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
    return _insert_lines(text, last, entry_text(name, service, key, indent), newline)


def _insert_lines(text: str, number: int, lines: str, newline: str) -> str:
    """Insert lines before the line of this number, counted from 0."""
    kept = text.splitlines(keepends=True)
    if kept and number >= len(kept) and not kept[-1].endswith("\n"):
        kept[-1] += newline
    return "".join([*kept[:number], lines.replace("\n", newline), *kept[number:]])


def _unwritable(file: str, name: str, service: FoundService, key: str | None) -> ConfigError:
    entry = f"{STAGE}:\n{entry_text(name, service, key, '  ')}"
    return ConfigError(
        f"the file is written so that nothing can be added to it; add\n{entry}", file=file
    )


def _dump(content: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)
    return text
