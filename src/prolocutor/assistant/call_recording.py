"""CallRecorder: what stands between an assistant and all that it calls, to record or to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final, Protocol

from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.connector import Connector
from prolocutor.contracts.observer import Observer
from prolocutor.dialog.inputs import TurnInput
from prolocutor.plan.pipeline import Call, Pipeline, StageService


class CallRecorder(Observer, Protocol):
    """Stands before every connector of an assistant, and follows its turns.

    It may return another connector than the one that it is offered, and need not make that at all.
    """

    def begin(self, name: str, pipeline: Pipeline, file: Path | None = None) -> None:
        """Take note of what an assistant is made of.

        Of a `file` this comes twice: as it is written, with the names of processes, and as it runs.
        """

    def connect(self, service: StageService, make: Callable[[], Connector]) -> Connector:
        """Return what the calls of a service go to; `make` makes its own connector."""

    def endpoint(self, name: str, call: Call, verb: str, make: Callable[[], Any]) -> Any:
        """Return what has the method `verb` of an endpoint that is no service, such as a model."""

    def follow(self, input: TurnInput, turn: asyncio.Future[TurnResult]) -> None:
        """Take note of a turn that was begun; it ends when the future is done."""


_RECORDER: Final[ContextVar[CallRecorder | None]] = ContextVar("recorder", default=None)


def current_recorder() -> CallRecorder | None:
    """Return the recorder of assistants that are made now; None without one."""
    return _RECORDER.get()


@contextmanager
def recorded_by(recorder: CallRecorder | None) -> Iterator[None]:
    """Let a recorder stand before the connectors of all assistants that are made in the block."""
    token = _RECORDER.set(recorder)
    try:
        yield
    finally:
        _RECORDER.reset(token)
