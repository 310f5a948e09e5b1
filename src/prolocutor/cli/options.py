"""The types of the commands' parameters, and options of several commands."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import click

_BOUND: Final = re.compile(r"(.+?)=([+-]?[0-9.]+(?:e[+-]?\d+)?)", re.IGNORECASE)
_SIZE: Final = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ?([MG])B")
_SIZES: Final = {"M": 1_000_000, "G": 1_000_000_000}

Command = TypeVar("Command", bound=Callable[..., Any])

USER: Final = "local"

STORE_OPTION: Final = click.option(
    "--store",
    metavar="URL",
    help="Where dialogs are stored: a SQLite file, sqlite:///FILE, memory: for nowhere, or where "
    "an assistant's FILE keeps them.  [default: the assistant's]",
)

USER_OPTION: Final = click.option(
    "--user",
    default=USER,
    show_default=True,
    metavar="USER",
    help="The user. Each has dialogs, lists and timers of their own.",
)

CODE_OPTION: Final = click.option(
    "--dream",
    "code",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Import a pipeline_conf.json's connectors and formatters from DREAM's own code.",
)

SEED_OPTION: Final = click.option(
    "--seed", type=int, default=42, show_default=True, help="Where chance begins."
)


class SizeParam(click.ParamType[int]):
    """A size: 500MB, 2GB. Converted to bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read one."""
        if isinstance(value, int):
            return value
        if match := _SIZE.fullmatch(value.strip().upper()):
            return int(float(match[1]) * _SIZES[match[2]])
        raise click.BadParameter(
            f"{value!r} is not a size; write 500MB or 2GB", param=param, ctx=ctx
        )


class BoundParam(click.ParamType[tuple[str, float]]):
    """`METRIC=VALUE`: a run with a lower value fails."""

    name = "METRIC=VALUE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        """Read name and number."""
        match = _BOUND.fullmatch(value)
        try:
            return match[1].strip(), float(match[2])  # type: ignore[index]
        except (TypeError, ValueError):
            self.fail(f"{value!r}: write it as f1=0.5", param, ctx)


class SettingParam(click.ParamType[tuple[str, Any]]):
    """`NAME=VALUE`: an option of an agent; the value is a number, true, false, or a text."""

    name = "NAME=VALUE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Any]:
        """Read name and value."""
        name, equals, text = value.partition("=")
        if not equals or not name:
            self.fail(f"{value!r}: write it as fixed_response=hello", param, ctx)
        return name.replace("-", "_"), _value(text)


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Decorator(Protocol):
    """A decorator that adds an option to a command."""

    def __call__(self, command: Command, /) -> Command:
        """Return the command with the option."""


def assistant_option(help: str, name: str = "assistant") -> Decorator:
    """Return the option for an assistant's file, a parameter `name` of the command."""
    path = click.Path(path_type=Path)
    return click.option("--assistant", name, metavar="FILE", type=path, help=help)


def json_option(help: str) -> Decorator:
    """Return the option for JSON to a file, or to stdout if no file is named."""
    return click.option(
        "--json", "json_file", metavar="[FILE]", is_flag=False, flag_value="-", help=help
    )


def concurrency_option(help: str) -> Decorator:
    """Return the option for the number of things that are done at once."""
    return click.option(
        "--concurrency",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        metavar="N",
        help=help,
    )
