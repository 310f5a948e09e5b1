"""Options of the commands of pairing: where models are, and into how many parts data are dealt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from prolocutor.cli.options import Decorator

Command = TypeVar("Command", bound=Callable[..., Any])


def folds_option(help: str) -> Decorator:
    """Return the option for the number of folds."""
    return click.option(
        "--folds", type=click.IntRange(2), default=5, show_default=True, metavar="N", help=help
    )


_MODEL_OPTIONS: Final = (
    click.option(
        "--encoder",
        metavar="PATH|URL",
        help="A sentence encoder: a folder with model.onnx and tokenizer.json, or an endpoint for "
        "embeddings, http://host/v1?model=NAME.",
    ),
    click.option(
        "--encoder-url",
        metavar="URL",
        help="The same by its URL alone, http://host/v1/embeddings?model=NAME.",
    ),
    click.option(
        "--chat", metavar="URL", help="For llm: a chat endpoint, http://host/v1?model=NAME."
    ),
)


ENCODER_OPTIONS: Final = _MODEL_OPTIONS[:2]


def encoder_options(command: Command) -> Command:
    """Add the options that say where an encoder is; `encoder_of` reads them."""
    for option in reversed(ENCODER_OPTIONS):
        command = option(command)
    return command


def encoder_of(encoder: str | None, url: str | None) -> str | None:
    """Return the place of an encoder; `UsageError` for two of them."""
    if encoder is not None and url is not None:
        raise click.UsageError("Say either --encoder or --encoder-url.")
    if url is not None and "://" not in url:
        raise click.BadParameter("a URL is http://host/v1/embeddings", param_hint="--encoder-url")
    return encoder if url is None else url


def model_options(command: Command) -> Command:
    """Add the options that say where models are."""
    for option in reversed(_MODEL_OPTIONS):
        command = option(command)
    return command
