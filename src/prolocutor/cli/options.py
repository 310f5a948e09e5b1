"""Options: those that several commands have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from prolocutor.config.store_location import STORE_NAME

Command = TypeVar("Command", bound=Callable[..., Any])

USER: Final = "local"

STORE_OPTION: Final = click.option(
    "--store",
    metavar="URL",
    help="Where dialogs are kept: a SQLite file, sqlite:///FILE, or memory: for nowhere.  "
    f"[default: the file's, else {STORE_NAME} in your data folder]",
)

USER_OPTION: Final = click.option(
    "--user",
    default=USER,
    show_default=True,
    metavar="USER",
    help="Who speaks. Each person has dialogs, lists and timers of their own.",
)

_MODEL_OPTIONS: Final = (
    click.option(
        "--encoder",
        metavar="PATH|URL",
        help="For embedding and similarity: a folder with model.onnx and tokenizer.json, or an "
        "endpoint for embeddings, http://host/v1?model=NAME.",
    ),
    click.option(
        "--pair-scorer", metavar="PATH", help="For cross-encoder: a folder with such a model."
    ),
    click.option(
        "--chat", metavar="URL", help="For llm: a chat endpoint, http://host/v1?model=NAME."
    ),
)


def model_options(command: Command) -> Command:
    """Add the options that say where models are."""
    for option in reversed(_MODEL_OPTIONS):
        command = option(command)
    return command
