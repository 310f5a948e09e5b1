"""WorkerSettings: the service of a worker, and its limits."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.plugins.nats import wire

DEFAULT_HOLD: Final = 64
"""Calls that a worker without batches holds at most."""
HOLD_BATCHES: Final = 4
"""Batches that a worker holds at most."""


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The service of a worker. `hold`: the most calls that wait or run; others get `busy`.

    `assistant`: the assistant whose calls are accepted, `*` for all assistants.
    """

    service: str
    assistant: str = wire.ANY_ASSISTANT
    batch_size: int = 1
    hold: int | None = None
    description: str = ""
    card: dict[str, Any] = {}

    @property
    def most_held(self) -> int:
        """The limit of calls that wait or run: `hold`, by default four batches."""
        if self.hold is not None:
            return self.hold
        return HOLD_BATCHES * self.batch_size if self.batch_size > 1 else DEFAULT_HOLD

    @property
    def subject(self) -> str:
        """The subject of the calls."""
        return wire.call_subject(self.assistant, self.service)
