"""`prolocutor schema` and `prolocutor reference`: the keys of a file and of plug-ins' options."""

from __future__ import annotations

import json
from pathlib import Path

import click

from prolocutor.config.file_keys import file_schema
from prolocutor.plugins.authoring.reference import describe, fill, subjects


@click.command(short_help="Print the JSON Schema of an assistant's file, for editors.")
def schema() -> None:
    """Print the JSON Schema (draft 2020-12) of an assistant's file, with all plug-ins installed.

    An editor that knows YAML completes and checks keys by it, where the first line of the file is
    `# yaml-language-server: $schema=assistant.schema.json`.

    \b
    Example:
      prolocutor schema > assistant.schema.json
    """
    click.echo(json.dumps(file_schema(), indent=2, ensure_ascii=False))


@click.command(short_help="Print what keys and plug-ins take, as tables of Markdown.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--write", is_flag=True, help="The names are pages: write anew the tables that they mark."
)
def reference(names: tuple[str, ...], write: bool) -> None:
    """Print the keys of NAME, with their types, defaults and meanings, as a table of Markdown.

    NAME is a key of a file, such as limits.person, or a plug-in, such as connectors.rasa; without
    one all names are listed. What other packages have installed is described in the same way.

    A page has its tables between <!-- reference: NAME --> and <!-- /reference -->.

    \b
    Examples:
      prolocutor reference skills.breaker
      prolocutor reference --write docs/reference/*.md
    """
    if not write:
        click.echo(describe(names) if names else "\n".join(subjects()))
        return
    for page in map(Path, names):
        text = page.read_text("utf-8")
        if (filled := fill(text)) != text:
            page.write_text(filled, "utf-8")
            click.echo(f"wrote {page}")
