"""What calling functions of others needs: whether one is async, and what its error says."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from gc import get_referents
from typing import Any, Final

import msgspec

from prolocutor.errors import legible

MAX_TEXT: Final = 300

MAX_PARTS: Final = 100_000
"""Most parts of the values of an exception that are written out, each as often as it occurs."""

MAX_LEVELS: Final = 100


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling it gives something to await; also for an object with `__call__`."""
    call = getattr(function, "__call__", None)  # noqa: B004 - an object may have an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def is_cancelled_from_outside() -> bool:
    """Return whether the present task is being cancelled, or its function cancelled itself."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def text_of(error: BaseException) -> str:
    """Return `Type: message`, also for an exception whose own text raises or is endless."""
    name = "an error"
    try:
        name = type(error).__name__
        said = _leaves_of(error.args) if _is_endless(error) else str(error)
        text = legible(said[:MAX_TEXT])
    except BaseException:  # its text is code of others too
        text = "(its text cannot be read)"
    return f"{name}: {text}" if text else name


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


def _leaves_of(values: tuple[Any, ...]) -> str:
    return ", ".join([str(one) for one in values if isinstance(one, str | int | float)])


def _is_dataclass(value: object) -> bool:
    return hasattr(type(value), "__dataclass_fields__")


_CONTAINERS: Final = (dict, list, tuple, set, frozenset, msgspec.Struct, BaseException)
