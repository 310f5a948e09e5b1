"""ServiceCode: whose function stands on a stack, so that a line of the log can name a service.

Callbacks and tasks that a service leaves in the event loop run without a call of the service.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import CodeType, FrameType, TracebackType
from typing import Any, Final
from weakref import WeakSet

from prolocutor.dotted_names import resolve
from prolocutor.errors import ConfigError
from prolocutor.pipeline.guard import Guard
from prolocutor.plan.pipeline import StageService


class ServiceCode:
    """The functions of the services of one assistant."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        found = [(_code_of(guard.service), guard) for guard in guards]
        self._known = [(code, guard) for code, guard in found if code is not None]

    def guard_of(self, codes: Iterable[CodeType]) -> Guard | None:
        """Return the guard of the first of these that a service's function is, or defines.

        Any other code of a file counts where that file has the function of one service alone.
        """
        for code in codes:
            here = [one for one in self._known if one[0].co_filename == code.co_filename]
            for function, guard in here:
                if f"{code.co_qualname}.".startswith(f"{function.co_qualname}."):
                    return guard
            if len(here) == 1:
                return here[0][1]
        return None


running: Final[WeakSet[ServiceCode]] = WeakSet()
"""Those of the assistants that run in this process."""


def service_on(codes: Iterable[CodeType], otherwise: str) -> str:
    """Return `service NAME` for the innermost code of any, else `otherwise`."""
    each = list(codes)
    found = [guard for one in list(running) if (guard := one.guard_of(each)) is not None]
    return f"service {found[0].service.name}" if found else otherwise


def codes_of_frame(frame: FrameType | None) -> Iterator[CodeType]:
    """Yield the code of a frame, and of those that called it."""
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


def codes_of_error(trace: TracebackType | None) -> list[CodeType]:
    """Return the code that an exception passed through, where it was raised first."""
    codes = []
    while trace is not None:
        codes.append(trace.tb_frame.f_code)
        trace = trace.tb_next
    return codes[::-1]


def _code_of(service: StageService) -> CodeType | None:
    target: Any = service.call.target
    if service.call.connector not in (None, "python"):
        return None  # it runs elsewhere, and may not be imported here
    if isinstance(target, str):
        try:
            target = resolve(target)
        except ConfigError:  # a URL
            return None
    while isinstance(target, partial):
        target = target.func
    target = inspect.unwrap(target) if callable(target) else target
    code = getattr(target, "__code__", None)
    if code is None:
        call = getattr(target, "__call__", None)  # noqa: B004 - an object of a class that has one
        code = getattr(call, "__code__", None)
    return code if isinstance(code, CodeType) else None
