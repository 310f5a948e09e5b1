"""Functions: by their dotted names, whether they are async, what their errors say."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable
from gc import get_referents
from traceback import walk_tb
from typing import Any, Final

import msgspec

from prolocutor.errors import ConfigError, legible
from prolocutor.names import did_you_mean

MAX_TEXT: Final = 300
"""Characters of an exception's text that are kept."""

MAX_PARTS: Final = 100_000
"""Most parts of the values of an exception that are written out, each as often as it occurs."""

MAX_LEVELS: Final = 100

MAX_FRAMES: Final = 3
"""Most frames of a service's own code that stand beside its error."""

_PATHS: Final = sysconfig.get_paths()
_FOREIGN: Final = (
    "<frozen",
    *(
        os.path.join(path, "")
        for path in (
            os.path.dirname(os.path.abspath(__file__)),
            *(_PATHS[name] for name in ("stdlib", "purelib", "platlib")),
        )
    ),
)
"""Beginnings of the files that no service has written: ours, Python's, installed libraries'."""

_CONTAINERS: Final = (dict, list, tuple, set, frozenset, msgspec.Struct, BaseException)


def takes_argument(function: Callable[..., Any], name: str) -> bool:
    """Return whether a function has an argument of this name."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # it is none of Python's
        return False


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling it gives something to await; also for an object with `__call__`."""
    call = getattr(function, "__call__", None)  # noqa: B004 - an object may have an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def is_cancelled_from_outside() -> bool:
    """Return whether the present task is being cancelled, or its function cancelled itself."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def error_text(error: BaseException) -> str:
    """Return `Type: message`, also for an exception whose own text raises or is endless."""
    name = "an error"
    try:
        name = type(error).__name__
        said = _join_leaves(error.args) if _is_endless(error) else str(error)
        text = legible(said[:MAX_TEXT])
    except BaseException:  # its text is code of others too
        text = "(its text cannot be read)"
    return f"{name}: {text}" if text else name


def text_and_place(error: BaseException) -> str:
    """Return `Type: message (at skills.py:31 in price, called at skills.py:12 in answer)`.

    The places are the innermost frames of the service's own code: neither ours nor a library's.
    """
    frames = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
    places = [
        f"{_shorten(code.co_filename)}:{line} in {code.co_name}"
        for code, line in frames
        if not code.co_filename.startswith(_FOREIGN)
    ][: -MAX_FRAMES - 1 : -1]
    text = error_text(error)
    return f"{text} (at {', called at '.join(places)})" if places else text


def _shorten(path: str) -> str:
    """Return a path below the current folder relative to it, and the file's name of any other."""
    here = os.path.join(os.getcwd(), "")
    return legible(path.removeprefix(here) if path.startswith(here) else os.path.basename(path))


def _is_endless(error: BaseException) -> bool:
    """Return whether an exception holds more than can be written out.

    A list that holds another one twice, which holds another one twice, and so on, is small in
    memory and endless in a text.
    """
    level: list[Any] = [error]
    number = 0
    for _ in range(MAX_LEVELS):
        level = [one for one in level if isinstance(one, _CONTAINERS) or _is_dataclass(one)]
        if not level or number > MAX_PARTS:
            break
        level = get_referents(*level)
        number += len(level)
    return number > MAX_PARTS


def _join_leaves(values: tuple[Any, ...]) -> str:
    return ", ".join([str(value) for value in values if isinstance(value, str | int | float)])


def _is_dataclass(value: object) -> bool:
    return hasattr(type(value), "__dataclass_fields__")


def resolve(dotted: str) -> Callable[..., Any]:
    """Import `package.module:function` (or `module:Class.method`) and give what can be called.

    `ConfigError` says which part fails: the form, the module, what the module itself imports, the
    attribute, or that it cannot be called.
    """
    module_name, colon, attributes = dotted.partition(":")
    if not colon or not module_name or not all(attributes.split(".")):
        raise ConfigError(f"{dotted!r} is not a dotted name; write it as package.module:function")
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
            raise ConfigError(
                f"{dotted}: there is no module {error.name!r}{_search_hint()}"
            ) from None
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


def _search_hint() -> str:
    """Say where modules are looked for when it is the current folder that is missing."""
    here = os.getcwd()
    return "" if {"", here} & set(sys.path) else f" (the folder {here} is not searched)"


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()[:300]
