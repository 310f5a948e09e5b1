"""`prolocutor convert`: a pipeline file of DeepPavlov Agent as an assistant's YAML."""

from __future__ import annotations

from pathlib import Path

import click

from prolocutor.config.loading import assistant_file, load
from prolocutor.errors import ConfigError
from prolocutor.plugins.deeppavlov.yaml_writing import as_yaml


@click.command(short_help="Write DeepPavlov Agent's pipeline file as YAML.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), required=True, help="The YAML file to write."
)
def convert(file: Path, out: Path) -> None:
    """Convert a pipeline_conf.json of DeepPavlov Agent to an equivalent assistant's YAML.

    An existing file is not overwritten. A setting without a YAML form is a fault.

    \b
    Example:
      prolocutor convert pipeline_conf.json -o assistant.yaml
    """
    text = as_yaml(load(assistant_file(file)))
    try:
        with out.open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise ConfigError(f"{out}: there is such a file already") from None
    except OSError as error:
        raise ConfigError(f"{out}: cannot be written: {error.strerror or error}") from None
    click.echo(f"{out}: written; prolocutor check {out} shows its plan")
