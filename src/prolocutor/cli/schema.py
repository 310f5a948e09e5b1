"""`prolocutor schema`: what an assistant's file may say, as JSON Schema."""

from __future__ import annotations

import json

import click

from prolocutor.config.file_keys import file_schema


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
