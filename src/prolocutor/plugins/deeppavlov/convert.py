"""`prolocutor convert`: a pipeline file of DeepPavlov Agent as an assistant's YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click
import msgspec
import yaml

from prolocutor.config.loading import assistant_file, load
from prolocutor.config.settings import Settings
from prolocutor.config.yaml_file import escape_value
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import SINGLE, CallOptions, Stage, StageService

_TOP: Final = ("name", "deadline", "fallback")

_CALLING: Final = CallOptions.__struct_fields__


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
    text = write_yaml(load(assistant_file(file)))
    try:
        with out.open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise ConfigError(f"{out}: there is such a file already") from None
    except OSError as error:
        raise ConfigError(f"{out}: cannot be written: {error.strerror or error}") from None
    click.echo(f"{out}: written; prolocutor check {out} shows its plan")


def write_yaml(settings: Settings) -> str:
    """Return the text of a file with these settings; raise `ConfigError` for values without YAML
    form.
    """
    content: dict[str, Any] = {key: getattr(settings, key) for key in _TOP}
    pipeline = settings.pipeline
    for field in msgspec.structs.fields(pipeline):
        said = getattr(pipeline, field.name)
        if field.name not in {*Stage} and said != field.default:
            content[field.name] = said
    for stage in Stage:
        services = pipeline.services_at(stage)
        written = [_service(service, stage) for service in services]
        if stage is Stage.LAST_CHANCE and written:
            content[stage.value] = {"name": services[0].name, **written[0]}
        elif stage in SINGLE and written:
            content[stage.value] = [
                {"name": one.name, **entry} for one, entry in zip(services, written, strict=True)
            ]
        elif written:
            content[stage.value] = {
                one.name: entry for one, entry in zip(services, written, strict=True)
            }
    text: str = yaml.safe_dump(
        escape_value(content),
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=100,
    )
    return text


def _service(service: StageService, stage: Stage) -> dict[str, Any]:
    """Return a service's keys: its call, and settings other than the defaults."""
    call = service.call
    if not isinstance(call.target, str):
        what = f"a target of type {type(call.target).__name__} cannot be written as YAML"
        raise ConfigError(what, key=f"{stage}.{service.name}.call")
    beside = {key: call.options[key] for key in _CALLING if key in call.options}
    own = {key: value for key, value in call.options.items() if key not in beside}
    entry: dict[str, Any] = {"call": {"target": call.target, **own} if own else call.target}
    if call.connector is not None:
        entry["connector"] = call.connector
    entry |= beside
    for field in msgspec.structs.fields(service):
        key, value = field.name, getattr(service, field.name)
        if key not in ("name", "target") and value != field.default:
            entry[key] = "all" if key == "window" and value is None else _plain(value)
    return entry


def _plain(value: Any) -> Any:
    """Return a setting as YAML says it; a Struct by the fields that differ from the defaults."""
    if isinstance(value, msgspec.Struct):
        usual = msgspec.to_builtins(type(value)())
        return {k: v for k, v in msgspec.to_builtins(value).items() if v != usual[k]}
    return msgspec.to_builtins(value)
