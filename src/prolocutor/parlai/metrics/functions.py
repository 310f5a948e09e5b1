"""A user's metric: a function `(guess, labels) -> number`, found by its dotted name.

It may give None where it does not apply. What it raises, or gives that is no number, is counted
as a failure and stays out of its mean; it never ends an evaluation.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import msgspec

from prolocutor.errors import ConfigError

Function = Callable[[str, list[str]], Any]


class Failure(msgspec.Struct):
    """How often a function failed, and how it did so first."""

    first: str
    count: int = 1


def load_function(dotted: str) -> Function:
    """Import `package.module:function` or `package.module.function`.

    `ConfigError` says which part of the name is wrong.
    """
    module_name, function_name = _parts(dotted)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ConfigError(
            f"the metric {dotted!r}: importing {module_name!r} failed: "
            f"{type(error).__name__}: {error}"
        ) from error
    found: Any = module
    for part in function_name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ConfigError(
            f"the metric {dotted!r}: there is no function {function_name!r} in {module_name!r}"
        )
    return found  # type: ignore[no-any-return]


def short_name(dotted: str) -> str:
    """Return the function's own name, under which it is reported."""
    return dotted.replace(":", ".").rpartition(".")[2]


def _parts(dotted: str) -> tuple[str, str]:
    module, _, function = dotted.partition(":") if ":" in dotted else dotted.rpartition(".")
    if not all(module.split(".")) or not all(function.split(".")):
        raise ConfigError(f"{dotted!r} is no dotted name; write it as package.module:function")
    return module, function
