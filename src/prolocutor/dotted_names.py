"""Dotted names: `package.module:function` -> the function, or which part of the name is wrong."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean


def resolve(dotted: str) -> Callable[..., Any]:
    """Import `package.module:function` (or `module:Class.method`) and give what can be called.

    `ConfigError` says which part fails: the form, the module, what the module itself imports, the
    attribute, or that it cannot be called.
    """
    module_name, colon, attributes = dotted.partition(":")
    if not colon or not module_name or not all(attributes.split(".")):
        raise ConfigError(f"{dotted!r} is no dotted name; write it as package.module:function")
    found: Any = _module(module_name, dotted)
    place = f"module {module_name!r}"
    for attribute in attributes.split("."):
        found = _attribute(found, attribute, place, dotted)
        place += f", {attribute!r}"
    if not callable(found):
        raise ConfigError(
            f"{dotted}: this is of type {type(found).__name__}, which cannot be called"
        )
    return found  # type: ignore[no-any-return]


def _module(name: str, dotted: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise ConfigError(f"{dotted}: there is no module {error.name!r}{_seen()}") from None
        raise ConfigError(
            f"{dotted}: the module {name!r} imports {error.name!r}, which is not installed"
        ) from error
    except SyntaxError as error:
        place = f"{os.path.basename(error.filename or name)}:{error.lineno}"
        raise ConfigError(f"{dotted}: {place}: {error.msg}") from error
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ConfigError(f"{dotted}: importing {name!r} failed: {_last_line(error)}") from error


def _attribute(found: Any, name: str, place: str, dotted: str) -> Any:
    try:
        return getattr(found, name)
    except AttributeError:
        known = [known for known in dir(found) if not known.startswith("_")]
        hint = did_you_mean(name, known)
        what = f"{dotted}: {place} has no {name!r}"
        raise ConfigError(f"{what}; {hint}" if hint else what) from None


def _seen() -> str:
    """Say where modules are looked for when it is the current folder that is missing."""
    here = os.getcwd()
    return "" if {"", here} & set(sys.path) else f" (the folder {here} is not searched)"


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()[:300]
