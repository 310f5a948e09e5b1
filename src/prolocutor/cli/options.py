"""Options that several commands have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


class Decorator(Protocol):
    """What adds an option to a command."""

    def __call__(self, command: Command, /) -> Command:
        """Return the command with the option."""


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


def assistant_option(help: str, name: str = "assistant") -> Decorator:
    """Return the option for an assistant's file, a parameter `name` of the command."""
    path = click.Path(path_type=Path)
    return click.option("--assistant", name, metavar="FILE", type=path, help=help)


def json_option(help: str) -> Decorator:
    """Return the option for JSON to a file, or to stdout where no file is named."""
    return click.option(
        "--json", "json_file", metavar="[FILE]", is_flag=False, flag_value="-", help=help
    )


def concurrency_option(help: str) -> Decorator:
    """Return the option for how many things are done at once."""
    return click.option(
        "--concurrency",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        metavar="N",
        help=help,
    )
