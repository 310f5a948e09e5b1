"""`prolocutor add`: a service behind a URL, recognised and written into an assistant's file."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import click

from prolocutor.config.assistant_file import FILE_NAME
from prolocutor.config.file_formats import format_of
from prolocutor.config.recognition import NotRecognized, recognize
from prolocutor.config.service_writing import add_service, deadline_notes, new_file, write_whole
from prolocutor.contracts.probe import FoundService
from prolocutor.errors import BadInput, ConfigError

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
    if (form := format_of(path)) is not None:
        raise BadInput(f"{path} {form.refusal}")
    for url in urls:
        found = look(url, key, connector, verbose=verbose)
        added = put(path, found, name, key)
        click.echo(f"{url} is {found.what}; {path} has it as the skill {added}")
        for note in [*found.notes, *deadline_notes(path.read_text("utf-8"), found)]:
            click.echo(f"  {note}")
    click.echo(f"Next:\n  prolocutor check {path}")


def look(url: str, key: str | None, connector: str | None, *, verbose: bool) -> FoundService:
    """Return what is behind a URL; `BadInput` where the variable with its key is not set."""
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


def put(path: Path, found: FoundService, name: str | None, key: str | None) -> str:
    """Write a service into a file, which is made if it is not there; return its name."""
    try:
        with path.open(encoding="utf-8", newline="") as opened:
            text = opened.read()
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", file=str(path)) from None
    if text.strip():
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
