"""`prolocutor new` and `prolocutor add`: an assistant's file, and services added to it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
from pathlib import Path
from typing import Final

import click

from prolocutor.config.file_keys import file_schema
from prolocutor.config.loading import FILE_NAME, find_format
from prolocutor.contracts.probe import FoundService
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.authoring.recognition import NotRecognized, recognize
from prolocutor.plugins.authoring.service_writing import (
    add_service,
    deadline_notes,
    new_file,
    write_whole,
)

KEY_HELP = "The environment variable that holds its key; the file names it as ${NAME}."
AS_HELP = "The connector that it is for, such as a2a; nothing is guessed."
VERBOSE_HELP = "Show what was tried where nothing is recognised."


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


TEMPLATE: Final = Path(__file__).with_name("template")
SUFFIX: Final = ".template"
SCHEMA: Final = "assistant.schema.json"
"""The file by which editors complete and check the assistant's file."""


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
