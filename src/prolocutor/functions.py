"""What calling functions of others needs: whether one is async, and what its error says."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Final

MAX_TEXT: Final = 300


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
    try:
        text = str(error)[:MAX_TEXT].encode(errors="replace").decode()
    except Exception:
        text = "(its text cannot be read)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
