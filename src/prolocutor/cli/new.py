"""`prolocutor new`: a small assistant of one's own, to be changed at once."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import click

from prolocutor.config.assistant_file import FILE_NAME
from prolocutor.errors import BadInput

TEMPLATE: Final = Path(__file__).with_name("template")
SUFFIX: Final = ".template"


@click.command(short_help="Write a small assistant of your own.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Write a small assistant that runs at once into DIR, which must be empty or new.

    It has two skills in skills.py, put together in assistant.yaml; a test; and a README.md with
    the next steps. Its dialogs are stored in dialogs.db beside them.

    \b
    Example:
      prolocutor new my-assistant
      prolocutor ask "hello" --assistant my-assistant/assistant.yaml
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is there already and not an empty folder; choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    files = write(folder, name_of(folder))
    path = shlex.quote(str(folder / FILE_NAME))
    click.echo(f"{folder} is written: {', '.join(files)}. Next:")
    click.echo(f'  prolocutor ask "hello" --assistant {path}')
    click.echo(f"  prolocutor chat {path}")


def write(folder: Path, name: str) -> list[str]:
    """Write the template's files for an assistant of this name and return their names."""
    files = []
    for template in sorted(TEMPLATE.glob(f"*{SUFFIX}")):
        file = folder / template.name.removesuffix(SUFFIX)
        file.write_text(template.read_text(encoding="utf-8").format(name=name), encoding="utf-8")
        files.append(file.name)
    return files


def name_of(folder: Path) -> str:
    """Return a name for the assistant of a folder: `my-assistant` is `My assistant`."""
    words = " ".join(re.findall(r"\w+", folder.absolute().name)) or "My assistant"
    return words[0].upper() + words[1:]
