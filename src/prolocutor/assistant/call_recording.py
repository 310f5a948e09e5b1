"""CallRecorder: wraps all connectors of an assistant, to record calls or to answer them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final, Protocol

from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.connector import Connector
from prolocutor.dialog.inputs import TurnInput
from prolocutor.plan.pipeline import Call, Pipeline, StageService


class CallRecorder(Protocol):
    """Wraps every connector of an assistant, and follows its turns.

    It may return another connector instead of making the offered one.
    """

    def begin(self, name: str, pipeline: Pipeline, file: Path | None = None) -> None:
        """Learn the parts of an assistant.

        For a `file` this is called twice: with its written form, which has the names of processes,
        and with its running form.
        """

    def connect(self, service: StageService, make: Callable[[], Connector]) -> Connector:
        """Return the connector for a service; `make` makes its own connector."""

    def endpoint(self, name: str, call: Call, verb: str, make: Callable[[], Any]) -> Any:
        """Return an object with the method `verb` of an endpoint, such as a model."""

    def follow(self, input: TurnInput, turn: asyncio.Future[TurnResult]) -> None:
        """Follow a turn that has begun; it ends when the future is done."""


_RECORDER: Final[ContextVar[CallRecorder | None]] = ContextVar("recorder", default=None)


def current_recorder() -> CallRecorder | None:
    """Return the recorder of assistants that are made now, or None."""
    return _RECORDER.get()


@contextmanager
def record_calls(recorder: CallRecorder | None) -> Iterator[None]:
    """Let a recorder wrap the connectors of all assistants that are made in the block."""
    token = _RECORDER.set(recorder)
    try:
        yield
    finally:
        _RECORDER.reset(token)
