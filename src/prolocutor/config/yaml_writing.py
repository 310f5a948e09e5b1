"""An assistant's settings written as YAML, which reads as the same settings."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import yaml

from prolocutor.config.settings import Settings
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import SINGLE, Addressed, Pipeline, Service, Stage

_TOP: Final = ("name", "deadline", "fallback")


def as_yaml(settings: Settings) -> str:
    """Return the text of a file with these settings; `ConfigError` for what YAML cannot say."""
    content: dict[str, Any] = {key: getattr(settings, key) for key in _TOP}
    pipeline, usual = settings.pipeline, Pipeline()
    for key in ("commit", "user_snapshot", "own_words"):
        if getattr(pipeline, key) != getattr(usual, key):
            content[key] = getattr(pipeline, key)
    for stage in Stage:
        services = pipeline.of(stage)
        written = [_service(one, stage) for one in services]
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
        _escaped(content), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
    )
    return text


def _service(service: Service, stage: Stage) -> dict[str, Any]:
    """Return a service's keys: its call, and what differs from the defaults."""
    target = service.target
    if isinstance(target, Addressed):
        call: Any = {"target": target.address, **target.options}
    elif isinstance(target, str):
        call = target
    else:
        what = f"a target of type {type(target).__name__} cannot be written as YAML"
        raise ConfigError(what, key=f"{stage}.{service.name}.call")
    entry: dict[str, Any] = {"call": call}
    for key in Service.__struct_fields__:
        value = getattr(service, key)
        if key not in ("name", "target") and value != getattr(_PLAIN, key):
            entry[key] = "all" if key == "window" and value is None else _plain(value)
    return entry


_PLAIN: Final = Service("", "")


def _plain(value: Any) -> Any:
    """Return a setting as YAML says it; a Struct by the fields that differ from the defaults."""
    if isinstance(value, msgspec.Struct):
        usual = msgspec.to_builtins(type(value)())
        return {k: v for k, v in msgspec.to_builtins(value).items() if v != usual[k]}
    return msgspec.to_builtins(value)


def _escaped(value: Any) -> Any:
    """Return the same with `${` written so that nothing is substituted."""
    if isinstance(value, dict):
        return {_escaped(key): _escaped(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_escaped(one) for one in value]
    return value.replace("${", "$${") if isinstance(value, str) else value
