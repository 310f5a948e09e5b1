"""`prolocutor new`: a small assistant of one's own, to be changed at once."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Final

import click

from prolocutor.cli.add import AS_HELP, KEY_HELP, VERBOSE_HELP, look, put
from prolocutor.config.assistant_file import FILE_NAME
from prolocutor.config.file_keys import file_schema
from prolocutor.errors import BadInput

TEMPLATE: Final = Path(__file__).with_name("template")
SUFFIX: Final = ".template"
SCHEMA: Final = "assistant.schema.json"
"""What editors complete and check the assistant's file by."""


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
        skill = put(path, found, name, key)
        click.echo(f"{target} is {found.what}; {path} has it as the skill {skill}. Next:")
        for note in found.notes:
            click.echo(f"  # {note}")
    elif folder is not None or name or key or connector or verbose:
        raise click.UsageError(f"{target} is no URL; prolocutor new DIR, or prolocutor new URL DIR")
    else:
        folder = Path(target)
        _check_empty(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = write(folder, name_of(folder))
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
    schema = json.dumps(file_schema(), ensure_ascii=False, separators=(",", ":"))
    (folder / SCHEMA).write_text(f"{schema}\n", encoding="utf-8")
    return [*files, SCHEMA]


def name_of(folder: Path) -> str:
    """Return a name for the assistant of a folder: `my-assistant` is `My assistant`."""
    words = " ".join(re.findall(r"\w+", folder.absolute().name)) or "My assistant"
    return words[0].upper() + words[1:]
